/**
 * Never signs twice for one (epoch, round). After every start, and after every pause of the process, the validator asks
 * the whole committee for its own highest header and waits for answers from a quorum, counting itself. If its disk does
 * not know any of its own headers (a restored backup, a lost disk, a copied key), it stays silent until no higher
 * header has appeared for 120 round intervals while connected to a quorum. Then it signs only above everything that its
 * key may have signed, which can be more than anybody knows of: see `KeyMemory`.
 *
 * The same key may sign on other networks, and anyone can replay those signatures here. A header counts only on the
 * base that its epoch has here. The header of an epoch that has not opened here cannot be judged yet. It is held back,
 * in memory only, and judged when that epoch opens, before anything is signed in it. Until then it shows that something
 * may be ahead, so a member that answers with such a header has not said what this key signed in the running epoch, and
 * its answer does not count.
 *
 * An answer counts only if the same epoch runs here and at the member. A member in a later epoch may have forgotten
 * what this key signed in this one; a member in an earlier epoch has not yet received it. So if an epoch opens before
 * anything was signed since the start, the committee is asked again.
 */
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { Epoch, Round, Timestamp } from "../protocol/numbers/Natural.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Header } from "../protocol/vertex/Header.js"
import type { Committee } from "./dag/Committee.js"
import { BASE_DIGITS, type HighestKnown, isAbove, KeyMemory, type Place, type Word } from "./KeyMemory.js"
import type { Signing } from "./Recovery.js"

export const SILENT_INTERVALS = 120
/** The most that one check takes off the silence: a few intervals, at least a second. Checks are more frequent. */
const COUNTED_INTERVALS = 4
const MIN_COUNTED_MS = 1_000
/** Headers held back for future epochs. The nearest epochs are kept; about later ones the committee is asked again. */
export const MAX_HELD_BACK = 64

export type Silence =
  | "asking"
  /** Another process signs or signed with this key. */
  | "foreign"

/** State from the disk, the operator and the previous guard. */
export interface Inherited {
  /** Headers that another guard of this run held back. */
  readonly heldBack: ReadonlyArray<Header>
  /** Whether the disk knows everything that this key has signed: see `KeyMemory`. */
  readonly hasMemory: boolean
  readonly word: Word | null
}

export const higherOf = (a: Place | null, b: Place | null): Place | null =>
  a === null || (b !== null && isAbove(b, a)) ? b : a

/** Invariant: `#highest` is at or above every header of this author that was ever signed or seen here. */
export class SigningGuard {
  readonly self: Address
  readonly #silentMs: number
  readonly #maxCountedMs: number
  /** This author's headers on this node's disk, of the epochs from `#oldest` on. */
  readonly #known = new Map<Hash, Epoch>()
  #oldest: Epoch
  /** The bases of the epochs from `#oldest` on that have opened here. */
  readonly #bases = new Map<Epoch, Hash>()
  /** Headers of epochs that have not opened here: the highest of each epoch and base. */
  #heldBack: ReadonlyArray<Header>
  /** The members that have answered in the epoch that opened last. */
  readonly #answered = new Set<Address>()
  readonly #memory: KeyMemory
  #highest: Place | null = null
  /** The highest header of this key that was seen and not signed here. */
  #highestForeign: Place | null = null
  #hasCommitteeAnswered = false
  #hasSigned = false
  /** The remaining silence; null while no foreign header is known. */
  #quietMsLeft: number | null = null
  /** A silence has passed for every header up to this one. */
  #waitedFor: Place | null = null
  #connectedSince: Timestamp | null = null
  /** A signer is making a signature. Nothing else is signed until it arrives or is refused. */
  isWaiting = false

  /**
   * `stored` holds this author's headers on disk, of the epochs from `oldest` on. If the ledger was set back but the
   * signed vertices were not, the disk no longer knows the headers of earlier epochs. It need not: nothing that low is
   * ever signed again.
   */
  constructor(
    self: Address,
    roundIntervalMs: number,
    oldest: Epoch,
    stored: Iterable<Header>,
    { heldBack, hasMemory, word }: Inherited,
  ) {
    this.self = self
    this.#silentMs = SILENT_INTERVALS * roundIntervalMs
    this.#maxCountedMs = Math.max(MIN_COUNTED_MS, COUNTED_INTERVALS * roundIntervalMs)
    const known = [...stored]
    const first = known.reduce((lowest, { epoch }) => Math.min(lowest, epoch), Number.MAX_SAFE_INTEGER)
    this.#oldest = known.length > 0 ? Natural.epoch(Math.max(oldest, first)) : oldest
    this.#heldBack = heldBack
    this.#memory = new KeyMemory(self, hasMemory, word)
    this.#answered.add(self)
    for (const header of known) this.#know(header)
  }

  /** The highest place that this key has signed or may have signed. Nothing at or below it may be signed. */
  get highest(): Place | null {
    return higherOf(this.#highest, this.#memory.bound)
  }

  /** The highest header of this key that was met and not signed here. */
  get highestForeign(): Place | null {
    return this.#highestForeign
  }

  /** Whether the disk is known to hold everything that this key has signed above `highest`. */
  get hasMemory(): boolean {
    return this.#memory.isKnown
  }

  /** Number of known headers of this author. */
  get size(): number {
    return this.#known.size
  }

  /** Why signing is not allowed; null if it is. */
  get silence(): Silence | null {
    if (this.#quietMsLeft !== null) return "foreign"
    return this.#hasCommitteeAnswered ? null : "asking"
  }

  /** The signing state with what it waits for. `quorumRound`: the highest round with a quorum of vertices. */
  state(committee: Committee, quorumRound: Round): Signing {
    if (this.#quietMsLeft !== null) {
      const round = this.#highest?.round ?? committee.firstRound
      return { _tag: "Silent", msLeft: this.#quietMsLeft, isConnected: this.#connectedSince !== null, round }
    }
    if (committee.seatOf(this.self) === undefined) return { _tag: "NoSeat" }
    if (!this.#hasCommitteeAnswered) {
      const members = committee.record.members.map(({ address }) => address)
      return { _tag: "Asking", lacks: members.filter((address) => !this.#answered.has(address)) }
    }
    return this.#forgotten(committee, quorumRound) ?? { _tag: "Signing" }
  }

  /** Set while the network may pass rounds that this key signed unknown to this disk. */
  #forgotten(committee: Committee, quorumRound: Round): Signing | undefined {
    const { epoch } = committee.record
    const { bound, isKnown } = this.#memory
    const isBelowBound = bound !== null && bound.epoch === epoch && quorumRound < bound.round
    if (isKnown && (this.#hasSigned || !isBelowBound)) return undefined
    const signed = this.#highest?.epoch === epoch ? this.#highest.round : 0
    return {
      _tag: "Forgotten",
      epoch,
      fromRound: Natural.round(Math.max(signed, quorumRound, committee.firstRound - 1) + 1),
      base: (this.#bases.get(epoch) ?? "").slice(0, BASE_DIGITS),
      bound: isKnown ? (bound?.round ?? null) : null,
      lacks: isKnown ? [] : this.#memory.toAsk(committee),
      refused: this.#memory.refusal(this.#highest),
    }
  }

  maySign(epoch: Epoch, round: Round): boolean {
    return !this.isWaiting && this.#allows({ epoch, round }, this.highest)
  }

  /**
   * Whether a vertex signed here, and perhaps seen by nobody, can be shown: its round could be signed now if it had not
   * been. That held before the process paused or restarted, too, but since then another process with this key may have
   * signed that round.
   */
  mayShow(place: Place): boolean {
    return this.#allows(place, higherOf(this.#highestForeign, this.#memory.bound))
  }

  #allows(place: Place, taken: Place | null): boolean {
    return this.silence === null && this.hasMemory && (taken === null || isAbove(place, taken))
  }

  #know(header: Header): void {
    if (header.epoch >= this.#oldest) this.#known.set(header.hash, header.epoch)
    if (this.#highest === null || isAbove(header, this.#highest)) this.#highest = header
  }

  /** Records a header that was signed here and is about to be written to disk. */
  signed(header: Header): void {
    this.#hasSigned = true
    this.#know(header)
    this.#memory.signed()
  }

  /**
   * The process was paused, as on a suspended machine. Somebody may have started another one with this key meanwhile,
   * so the others' answers no longer count, as after a start.
   */
  stoodStill(): void {
    this.#hasSigned = false
    this.#forgetAnswers()
  }

  /** Headers of this author that cannot be judged yet. */
  get heldBack(): ReadonlyArray<Header> {
    return this.#heldBack
  }

  /** An epoch has opened on this base. Returns the foreign header held back for it, after `meet` has judged it. */
  open(epoch: Epoch, base: Hash): Header | undefined {
    this.#bases.set(epoch, base)
    this.#memory.open(epoch, base)
    if (!this.#hasSigned) this.#forgetAnswers()
    const headers = this.#heldBack
    this.#heldBack = []
    // Headers of later epochs are held back again.
    const [foreign] = headers.filter((header) => this.meet(header))
    return foreign
  }

  /**
   * Judges a header of this author from outside, with a valid signature. Returns true if it was signed on this network
   * and the disk did not know it: the silence begins, or begins again if the header is above all known ones. A lower
   * header was signed before those, so it does not show that anyone still signs; otherwise a peer could prolong the
   * silence with old headers, one at a time, or begin a new one after it.
   */
  meet(header: Header): boolean {
    if (header.author !== this.self || header.epoch < this.#oldest || this.#known.has(header.hash)) return false
    if (header.epoch > this.#running) {
      this.#holdBack(header)
      return false
    }
    if (this.#bases.get(header.epoch) !== header.base) return false
    this.#highestForeign = higherOf(this.#highestForeign, header)
    const { bound } = this.#memory
    if (bound === null || isAbove(header, bound)) this.#memory.doubt()
    const isWaitedFor = this.#waitedFor !== null && !isAbove(header, this.#waitedFor)
    const isUpsetting = this.#quietMsLeft === null || this.#highest === null || isAbove(header, this.#highest)
    if (isUpsetting && !isWaitedFor) {
      this.#quietMsLeft = this.#silentMs
      this.#connectedSince = null
    }
    this.#know(header)
    return true
  }

  #forgetAnswers(): void {
    this.#answered.clear()
    this.#answered.add(this.self)
    this.#hasCommitteeAnswered = false
  }

  /** The last epoch that has opened here; 0 if none has. */
  get #running(): number {
    return Math.max(0, ...this.#bases.keys())
  }

  #holdBack(header: Header): void {
    const before = this.#heldBack.find(({ epoch, base }) => epoch === header.epoch && base === header.base)
    if (before !== undefined && before.round >= header.round) return
    const others = this.#heldBack.filter((held) => held !== before)
    this.#heldBack = [...others, header].sort((a, b) => a.epoch - b.epoch).slice(0, MAX_HELD_BACK)
  }

  /** A member answers the question asked at the start. The header in its answer also goes to `meet`. */
  answer(member: Address, answer: HighestKnown, committee: Committee): void {
    if (!this.#isConclusive(answer)) return
    this.#answered.add(member)
    this.#count(committee)
  }

  /** A member reports its own highest header, requested in this epoch. */
  testify(member: Address, answer: HighestKnown, committee: Committee): void {
    this.#memory.testify(member, answer, committee)
    this.#count(committee)
  }

  saw(header: Header, committee: Committee): void {
    this.#memory.saw(header, committee)
  }

  /** The members to ask for their own progress: none if the disk knows everything that this key has signed. */
  witnesses(committee: Committee): ReadonlyArray<Address> {
    return this.#memory.toAsk(committee)
  }

  /** Whether the member is in this epoch and knows nothing above it. Members keep headers of two epochs only. */
  #isConclusive({ epoch, header }: HighestKnown): boolean {
    if (epoch !== this.#running) return false
    return header === null || header.epoch < this.#oldest || this.#bases.get(header.epoch) === header.base
  }

  /** The members still to ask. */
  toAsk(committee: Committee): ReadonlyArray<Address> {
    this.#count(committee)
    if (this.#hasCommitteeAnswered || committee.seatOf(this.self) === undefined) return []
    return committee.record.members.map(({ address }) => address).filter((address) => !this.#answered.has(address))
  }

  #count(committee: Committee): void {
    if (!this.#hasCommitteeAnswered && committee.seatOf(this.self) !== undefined) {
      let weight = 0
      for (const member of committee.record.members) if (this.#answered.has(member.address)) weight += member.weight
      this.#hasCommitteeAnswered = committee.isQuorum(weight)
    }
    const seen = { highest: this.#highest, answered: this.#answered }
    this.#memory.settle({ ...seen, hasCommitteeAnswered: this.#hasCommitteeAnswered }, committee)
  }

  /**
   * Counts the silence down. Time counts only between two checks that both found a quorum connected, and only up to the
   * normal time between checks: a process that was stopped, or too busy to check, has not heard the messages sent
   * meanwhile.
   */
  tick(now: Timestamp, hasQuorum: () => boolean): void {
    if (this.#quietMsLeft === null) return
    const isConnectedToQuorum = hasQuorum()
    if (isConnectedToQuorum && this.#connectedSince !== null) {
      this.#quietMsLeft -= Math.min(now - this.#connectedSince, this.#maxCountedMs)
    }
    this.#connectedSince = isConnectedToQuorum ? now : null
    if (this.#quietMsLeft > 0) return
    this.#quietMsLeft = null
    this.#waitedFor = this.#highest
  }

  /** From now on, headers of epochs before `oldest` cannot be distinguished from foreign ones. */
  forgetBefore(oldest: Epoch): void {
    if (oldest <= this.#oldest) return
    this.#oldest = oldest
    for (const [hash, epoch] of this.#known) if (epoch < oldest) this.#known.delete(hash)
    for (const epoch of this.#bases.keys()) if (epoch < oldest) this.#bases.delete(epoch)
  }
}
