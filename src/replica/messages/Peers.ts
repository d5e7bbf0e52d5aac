/**
 * The connected peers, and the order in which to ask them. Peers may lie, be slow or be silent, and strangers can fill
 * every place, so no class of peers may use up another's questions. The classes are committee members, which have
 * proven their keys, peers this node dialled, and peers that dialled in. Members come first. After a failed question
 * the next class has its turn, so each class gets at least every third question, however many peers the others have.
 * The order depends on nothing a peer can choose; ids do not count, since they can be ground.
 *
 * Within a class, peers that failed recently come last, except after a failed question. That turn ignores failures,
 * because honest peers fail too while the network is stalled, and failing liars are always replaced by others. Among
 * members, turns go by weight, of which honest members hold more than two thirds. In the other classes they go to the
 * peer that has waited longest, with newcomers last.
 */

import { Pace } from "../../consensus/Pace.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Connection, PeerId } from "./Peer.js"

/** A peer that brought nothing waits this many paces before its next turn, doubled with each repetition. */
const BENCHED_PACES = 16
const MAX_DOUBLINGS = 5

const MEMBER = 0
const DIALLED = 1
const STRANGER = 2
const CLASSES = [MEMBER, DIALLED, STRANGER] as const
type Class = (typeof CLASSES)[number]

const after = (kind: number): Class => CLASSES[kind + 1] ?? MEMBER

interface Standing {
  connection: Connection
  /** When it was last asked, counted in questions; before that, when it connected. */
  turn: number
  hasBrought: boolean
  failures: number
  benchedUntil: number
}

/**
 * How to rank peers. `Best`: the most useful ones, moving to the next class after a failure. `Members`: members first,
 * for things asked so often that no peer is blamed for lacking them. `Rotation`: like `Members`, with an equal share
 * for each class.
 */
export type Order = "Best" | "Members" | "Rotation"

export class Peers {
  readonly #everyMs: number
  readonly #weightOf: (validator: Address) => number
  #standings = new Map<PeerId, Standing>()
  #turns = 0
  #paces = new Map<string, Pace>()
  /** Each member's claim on the questions to members, in weight. Survives reconnects. */
  readonly #owed = new Map<Address, number>()
  /** The class whose turn it is: members, except for one question after another class failed. */
  #nextClass: Class = MEMBER
  #nextInRotation: Class = MEMBER
  /** Classes whose last question failed. */
  readonly #inVain = new Set<Class>()

  /**
   * `everyMs`: between two messages of one kind to one peer. `weightOf`: a validator's weight in the running committee,
   * or 0.
   */
  constructor(everyMs: number, weightOf: (validator: Address) => number) {
    this.#everyMs = everyMs
    this.#weightOf = weightOf
  }

  /** Returns the new peers. */
  connect(connections: ReadonlyArray<Connection>): ReadonlyArray<PeerId> {
    const before = this.#standings
    this.#standings = new Map()
    const present = new Map(connections.map((connection) => [connection.peer, connection]))
    for (const [peer, standing] of before) {
      const connection = present.get(peer)
      if (connection === undefined) this.#paces = withoutPeer(this.#paces, peer)
      else this.#standings.set(peer, { ...standing, connection })
    }
    const added = [...present.values()].filter(({ peer }) => !before.has(peer))
    for (const connection of added) {
      // Newcomers queue last: reconnecting must not earn more turns.
      const fresh = { turn: ++this.#turns, hasBrought: false, failures: 0, benchedUntil: 0 }
      this.#standings.set(connection.peer, { connection, ...fresh })
    }
    for (const validator of this.#owed.keys()) if (this.#weightOf(validator) === 0) this.#owed.delete(validator)
    return added.map(({ peer }) => peer)
  }

  has(peer: PeerId): boolean {
    return this.#standings.has(peer)
  }

  get all(): ReadonlyArray<PeerId> {
    return [...this.#standings.keys()]
  }

  get validators(): ReadonlyArray<Address> {
    return [...this.#standings.values()].flatMap(({ connection }) => connection.validator ?? [])
  }

  validatorOf(peer: PeerId): Address | null {
    return this.#standings.get(peer)?.connection.validator ?? null
  }

  peersOf(validator: Address): ReadonlyArray<PeerId> {
    return this.all.filter((peer) => this.validatorOf(peer) === validator)
  }

  /** All peers, in the order in which to ask them. */
  ranked(now: Timestamp, order: Order = "Best"): ReadonlyArray<PeerId> {
    const first = order === "Best" ? this.#nextClass : order === "Rotation" ? this.#nextInRotation : MEMBER
    return [...this.#standings.values()]
      .map((standing) => ({ standing, rank: this.#rank(standing, now, order, first) }))
      .sort((a, b) => firstDifference(a.rank, b.rank))
      .map(({ standing }) => standing.connection.peer)
  }

  #rank(standing: Standing, now: Timestamp, order: Order, first: Class): ReadonlyArray<number> {
    const kind = this.#classOf(standing)
    const place = (kind - first + CLASSES.length) % CLASSES.length
    const member = this.#memberOf(standing)
    const inTurn = [member === null ? 0 : -this.#owedTo(member), standing.turn]
    if (order !== "Best" || this.#inVain.has(kind)) return [place, ...inTurn]
    return [place, now < standing.benchedUntil ? 1 : 0, kind === MEMBER || standing.hasBrought ? 0 : 1, ...inTurn]
  }

  #memberOf({ connection: { validator } }: Standing): Address | null {
    return validator !== null && this.#weightOf(validator) > 0 ? validator : null
  }

  #classOf(standing: Standing): Class {
    if (this.#memberOf(standing) !== null) return MEMBER
    return standing.connection.isDialled ? DIALLED : STRANGER
  }

  #owedTo(validator: Address): number {
    return (this.#owed.get(validator) ?? 0) + this.#weightOf(validator)
  }

  /** Takes the turn of the next peer; undefined if there is none. */
  next(now: Timestamp, order: Order = "Best"): PeerId | undefined {
    const [peer] = this.ranked(now, order)
    if (peer !== undefined) this.asked(peer, order)
    return peer
  }

  asked(peer: PeerId, order: Order = "Best"): void {
    const standing = this.#standings.get(peer)
    if (standing === undefined) return
    standing.turn = ++this.#turns
    standing.hasBrought = false
    const kind = this.#classOf(standing)
    if (order === "Best") {
      this.#nextClass = MEMBER
      this.#inVain.delete(kind)
    }
    if (order === "Rotation") this.#nextInRotation = after(kind)
    const member = this.#memberOf(standing)
    if (member !== null) this.#charge(member)
  }

  /** Every connected member is owed its weight; the one that is asked pays for all. */
  #charge(asked: Address): void {
    const validators = new Set(this.validators)
    let total = 0
    for (const validator of validators) total += this.#weightOf(validator)
    for (const validator of validators) {
      // No member saves up turns or debts beyond one full rotation.
      const owed = this.#owedTo(validator) - (validator === asked ? total : 0)
      this.#owed.set(validator, Math.max(-total, Math.min(total, owed)))
    }
  }

  /** It answered with something needed. */
  brought(peer: PeerId): void {
    const standing = this.#standings.get(peer)
    if (standing === undefined) return
    standing.hasBrought = true
    standing.failures = 0
    standing.benchedUntil = 0
  }

  /** It was asked and sent nothing needed, or took too long. */
  broughtNothing(peer: PeerId, now: Timestamp): void {
    const standing = this.#standings.get(peer)
    if (standing === undefined) return
    standing.hasBrought = false
    standing.benchedUntil = now + BENCHED_PACES * this.#everyMs * 2 ** standing.failures
    standing.failures = Math.min(MAX_DOUBLINGS, standing.failures + 1)
    const kind = this.#classOf(standing)
    this.#inVain.add(kind)
    this.#nextClass = after(kind)
  }

  /** Whether it is time to send this peer something of this kind again. */
  isDue(kind: string, peer: PeerId, now: Timestamp): boolean {
    const key = paceKey(kind, peer)
    const pace = this.#paces.get(key) ?? new Pace(this.#everyMs)
    this.#paces.set(key, pace)
    return pace.isDue(now)
  }
}

const firstDifference = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  for (const [i, own] of a.entries()) {
    const difference = own - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const paceKey = (kind: string, peer: PeerId): string => `${kind} ${peer}`

const withoutPeer = (paces: ReadonlyMap<string, Pace>, peer: PeerId): Map<string, Pace> =>
  new Map([...paces].filter(([key]) => !key.endsWith(` ${peer}`)))
