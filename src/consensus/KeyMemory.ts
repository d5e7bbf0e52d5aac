/**
 * Whether this disk knows everything that this key has signed, up to a bound. A disk that holds a vertex of this node
 * does, because nothing is signed before this question is settled. An empty disk does not, nor does one that lacks a
 * header of this key that somebody shows. The last vertex on a lost disk may have reached a single member, which may be
 * down or lie. The members are therefore not asked what they know of the key, but for their own progress, which bounds
 * what it can have signed:
 *
 * A vertex of round r needs a quorum of round r − 1. Members that weigh a quorum, not counting this one, tell their own
 * highest round now, after the loss. Any quorum of a round above all of theirs would share an honest member with them,
 * and that member has made no such round. So the lost key has signed nothing above the round after their highest.
 *
 * Members that go on signing need not be believed. A vertex that builds on vertices which more than the liars made
 * after the loss was itself made after the loss, so its author had signed only lower rounds before. A liar can raise
 * the bound no further than that.
 *
 * If the others cannot go on without this node, they weigh no quorum, and no round is safe: the rounds for which they
 * wait are those that the key may have signed. Then the operator's word decides. docs/recovery.md has the whole proof.
 */
import type { EpochRecord } from "../protocol/epoch/EpochRecord.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { Epoch } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Header } from "../protocol/vertex/Header.js"
import type { Committee } from "./dag/Committee.js"

export type Place = Pick<Header, "epoch" | "round">

/** A member's answer about a key: the highest header of it that the member knows, and the member's epoch. */
export interface HighestKnown {
  readonly epoch: Epoch
  readonly header: Header | null
}

/** The operator's word that this key has signed nothing in this epoch from this round on. */
export interface Word extends Place {
  /** The first digits of the epoch's base, so that the word is valid in one epoch of one network. */
  readonly base: string
}

export const BASE_DIGITS = 16

export type Refusal =
  /** It names another epoch or network. */
  | "elsewhere"
  /** The key is known to have signed this round or a higher one. */
  | "too low"

export interface Seen {
  /** The highest header of this key signed or seen here. */
  readonly highest: Place | null
  /** The members that have told what they know of this key, including this node. */
  readonly answered: ReadonlySet<Address>
  readonly hasCommitteeAnswered: boolean
}

/** In it everybody starts with an empty disk, perhaps after others have made some rounds. */
const FOUNDING_EPOCH = 1
export const FOUNDING_ROUNDS = 9

export const isAbove = (a: Place, b: Place): boolean => (a.epoch !== b.epoch ? a.epoch > b.epoch : a.round > b.round)

/**
 * The epoch's last leader is committed by a quorum two rounds above it. Above that, the key may be in the next epoch.
 */
const lastBoundOf = ({ firstRound, rules }: EpochRecord): number => firstRound + rules.epochRounds + 1

export class KeyMemory {
  readonly #self: Address
  readonly #word: Word | null
  #state: "complete" | "told" | "unknown"
  /** The key may have signed anything up to here that this disk does not know. */
  #bound: Place | null = null
  #running: { readonly epoch: Epoch; readonly base: Hash } | null = null
  /** The highest round of the running epoch that each member reported in this epoch, 0 for none. */
  readonly #progress = new Map<Address, number>()

  constructor(self: Address, isComplete: boolean, word: Word | null) {
    this.#self = self
    this.#state = isComplete ? "complete" : "unknown"
    this.#word = word
  }

  get isKnown(): boolean {
    return this.#state !== "unknown"
  }

  get bound(): Place | null {
    return this.#bound
  }

  /** An epoch has opened. Reports from the last one do not apply to it. */
  open(epoch: Epoch, base: Hash): void {
    this.#running = { epoch, base }
    this.#progress.clear()
    if (this.#state === "told") this.#state = "complete"
  }

  signed(): void {
    if (this.#state === "told") this.#state = "complete"
  }

  /** A header of this key appeared that neither this disk nor the bound accounts for. */
  doubt(): void {
    if (this.#state === "unknown") return
    this.#state = "unknown"
    this.#bound = null
    this.#progress.clear()
  }

  /** The members that must still report their own highest header. */
  toAsk({ record }: Committee): ReadonlyArray<Address> {
    if (this.#state === "complete") return []
    const members = record.members.map(({ address }) => address)
    return members.filter((address) => address !== this.#self && !this.#progress.has(address))
  }

  testify(member: Address, { epoch, header }: HighestKnown, { record }: Committee): void {
    const running = this.#running
    if (running === null || epoch !== running.epoch || member === this.#self) return
    if (header === null || header.epoch < epoch) this.#progress.set(member, 0)
    else if (header.author === member && header.epoch === epoch && header.base === running.base) {
      // Ignores a round that leads to no bound, so that the member is asked again and listed as missing.
      if (header.round < lastBoundOf(record)) this.#progress.set(member, header.round)
    }
  }

  /**
   * A vertex has entered the DAG. Its parents above what their authors had signed when asked were made since. If these
   * weigh a third, one of them is honest, and this vertex was made after the loss: before, its author had signed only
   * lower rounds, whatever it says.
   */
  saw({ epoch, base, round, author, parents }: Header, committee: Committee): void {
    const running = this.#running
    if (this.#state === "complete" || author === this.#self || running?.epoch !== epoch || running.base !== base) return
    if (round > (this.#progress.get(author) ?? Number.POSITIVE_INFINITY)) return
    let weight = 0
    for (const parent of parents) {
      const seat = committee.seatOf(parent.author)
      const signedBefore = this.#progress.get(parent.author)
      const isNew = parent.round === round - 1 && signedBefore !== undefined && signedBefore < parent.round
      if (isNew && seat !== undefined) weight += committee.weightOf(seat)
    }
    if (weight * 3 >= committee.totalWeight && round <= lastBoundOf(committee.record)) {
      this.#progress.set(author, round - 1)
    }
  }

  /** Why the operator's word does not count; null if it does or there is none. */
  refusal(highest: Place | null): Refusal | null {
    const word = this.#word
    if (word === null) return null
    const isHere = this.#running?.epoch === word.epoch && this.#running.base.startsWith(word.base)
    if (!isHere) return "elsewhere"
    return highest === null || isAbove(word, highest) ? null : "too low"
  }

  settle(seen: Seen, committee: Committee): void {
    if (this.#state === "complete") return
    if (seen.hasCommitteeAnswered && this.#word !== null && this.refusal(seen.highest) === null) {
      const { epoch, round } = this.#word
      this.#bound = { epoch, round: Natural.round(round - 1) }
      this.#state = "complete"
      return
    }
    if (this.#hasNothingToFear(seen, committee)) {
      this.#bound = null
      this.#state = "complete"
      return
    }
    const bound = this.#testified(committee)
    if (bound === null) return
    this.#bound = bound
    this.#state = "told"
  }

  /**
   * The lowest bound that members weighing a quorum vouch for. More reports can lower it, so liars cannot raise it if
   * the others suffice. A key that may have seen the epoch's end may have signed in the next one, where the question is
   * asked anew.
   */
  #testified(committee: Committee): Place | null {
    const { epoch, firstRound } = committee.record
    const rounds = committee.record.members.flatMap(({ address, weight }) => {
      const round = this.#progress.get(address)
      return round === undefined ? [] : [{ round, weight }]
    })
    let weight = 0
    for (const member of rounds.sort((a, b) => a.round - b.round)) {
      weight += member.weight
      if (!committee.isQuorum(weight)) continue
      return { epoch, round: Natural.round(Math.max(member.round + 1, firstRound)) }
    }
    return null
  }

  /** Whether nobody can hold a vertex of this key above the highest known one. */
  #hasNothingToFear({ highest, answered, hasCommitteeAnswered }: Seen, committee: Committee): boolean {
    if (!hasCommitteeAnswered) return false
    const { members, epoch, firstRound } = committee.record
    const own = members.find(({ address }) => address === this.#self)?.weight ?? 0
    // If the others are no quorum without this node, the quorum tolerates no liar: once all have answered, all is
    // known.
    if (!committee.isQuorum(committee.totalWeight - own)) return members.every(({ address }) => answered.has(address))
    if (epoch !== FOUNDING_EPOCH || highest !== null) return false
    // The network begins: nobody has a vertex of this key, and nobody is past the first rounds. Allowing only the very
    // first round would let a faulty member that stops in the second keep the others waiting for whoever started last.
    let weight = own
    for (const member of members) {
      const round = this.#progress.get(member.address)
      if (round !== undefined && round >= firstRound + FOUNDING_ROUNDS) return false
      if (round !== undefined && answered.has(member.address)) weight += member.weight
    }
    return committee.isQuorum(weight)
  }
}
