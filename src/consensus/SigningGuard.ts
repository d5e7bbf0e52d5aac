/**
 * Nothing is ever signed twice for one (epoch, round). After every start the validator asks the whole committee for its
 * own highest header and waits for answers of a quorum, itself counted; if any header of its own is unknown to its disk
 * (a restored backup, a copied key) it stays silent until none has appeared for 120 round intervals while connected to a
 * quorum, and then signs only above the highest known.
 */
import type { Address } from "../protocol/Address.js"
import type { Epoch, Round, Timestamp } from "../protocol/Counter.js"
import type { Hash } from "../protocol/Hash.js"
import type { Header } from "../protocol/Header.js"
import type { Committee } from "./Committee.js"

export const SILENT_INTERVALS = 120

export type Silence =
  /** The committee has not answered yet. */
  | "asking"
  /** Somebody else signs with this key, or did. */
  | "foreign"

const isAbove = (a: Pick<Header, "epoch" | "round">, b: Pick<Header, "epoch" | "round">): boolean =>
  a.epoch !== b.epoch ? a.epoch > b.epoch : a.round > b.round

/** Invariant: `#highest` is at or above every header of this author that was ever signed here or met anywhere. */
export class SigningGuard {
  readonly self: Address
  readonly #silentMs: number
  /** Own headers that are on the own disk, of the epochs from `#oldest` on. */
  readonly #known = new Map<Hash, Epoch>()
  #oldest: Epoch
  readonly #answered: Set<Address>
  #highest: Pick<Header, "epoch" | "round"> | null = null
  #hasCommitteeAnswered = false
  /** How long it must still be quiet; none while no foreign header is known. */
  #quietMsLeft: number | null = null
  #connectedSince: Timestamp | null = null

  /** `stored` are the own headers of the epochs from `oldest` on, as the disk has them. */
  constructor(self: Address, roundIntervalMs: number, oldest: Epoch, stored: Iterable<Header>) {
    this.self = self
    this.#silentMs = SILENT_INTERVALS * roundIntervalMs
    this.#oldest = oldest
    this.#answered = new Set([self])
    for (const header of stored) this.#know(header)
  }

  /** The highest own header known; nothing at or below it may be signed. */
  get highest(): Pick<Header, "epoch" | "round"> | null {
    return this.#highest
  }

  /** How many own headers are known. */
  get size(): number {
    return this.#known.size
  }

  /** Why nothing may be signed; none when signing is allowed. */
  get silence(): Silence | null {
    if (this.#quietMsLeft !== null) return "foreign"
    return this.#hasCommitteeAnswered ? null : "asking"
  }

  maySign(epoch: Epoch, round: Round): boolean {
    return this.silence === null && (this.#highest === null || isAbove({ epoch, round }, this.#highest))
  }

  #know(header: Header): void {
    if (header.epoch >= this.#oldest) this.#known.set(header.hash, header.epoch)
    if (this.#highest === null || isAbove(header, this.#highest)) this.#highest = header
  }

  /** A header that was signed here and is about to be on disk. */
  signed(header: Header): void {
    this.#know(header)
  }

  /** An own header from outside. True when the disk did not know it: silence begins, or begins anew. */
  meet(header: Header): boolean {
    if (header.author !== this.self || header.epoch < this.#oldest || this.#known.has(header.hash)) return false
    this.#know(header)
    this.#quietMsLeft = this.#silentMs
    this.#connectedSince = null
    return true
  }

  /** A member has answered the question at the start; the header it named went to `meet`. */
  answer(member: Address, committee: Committee): void {
    this.#answered.add(member)
    this.#count(committee)
  }

  /** Whom to ask still. A later committee is asked anew, as far as it has not answered. */
  toAsk(committee: Committee): ReadonlyArray<Address> {
    this.#count(committee)
    if (this.#hasCommitteeAnswered || committee.seatOf(this.self) === undefined) return []
    return committee.record.members.map(({ address }) => address).filter((address) => !this.#answered.has(address))
  }

  #count(committee: Committee): void {
    if (this.#hasCommitteeAnswered || committee.seatOf(this.self) === undefined) return
    let weight = 0
    for (const member of committee.record.members) if (this.#answered.has(member.address)) weight += member.weight
    this.#hasCommitteeAnswered = committee.isQuorum(weight)
  }

  /** Lets the silence run down. Only time between two looks that both found a quorum connected counts. */
  tick(now: Timestamp, hasQuorum: () => boolean): void {
    if (this.#quietMsLeft === null) return
    const isConnectedToQuorum = hasQuorum()
    if (isConnectedToQuorum && this.#connectedSince !== null && now > this.#connectedSince) {
      this.#quietMsLeft -= now - this.#connectedSince
    }
    this.#connectedSince = isConnectedToQuorum ? now : null
    if (this.#quietMsLeft <= 0) this.#quietMsLeft = null
  }

  /** Own headers of epochs before `oldest` are no longer told apart. */
  forgetBefore(oldest: Epoch): void {
    this.#oldest = oldest
    for (const [hash, epoch] of this.#known) if (epoch < oldest) this.#known.delete(hash)
  }
}
