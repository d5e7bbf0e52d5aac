/**
 * Who takes part: of each member of the running epoch, in how many rounds a vertex of its own became final and in how many
 * none did, and how many leaders were skipped. Derived from commits alone, so every node that executes them counts the same.
 *
 * A round counts once the order is so far past it that no later commit can order anything of it. The last rounds of an
 * epoch never get there, and count for nobody.
 */
import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import type { Header } from "../../protocol/vertex/Header.js"

export interface Rounds {
  made: number
  missed: number
}

export interface Committed {
  readonly leaderRound: Round
  readonly headers: ReadonlyArray<Pick<Header, "round" | "author">>
}

export class Participation {
  readonly #self: Address | null
  #depth = 0
  /** The next round to be counted. */
  #next = 0
  #leaderRound = 0
  #authors = new Map<number, Set<Address>>()
  #members = new Map<Address, Rounds>()
  #ownMissed = 0
  #leadersSkipped = 0

  /** `afterRound`: the leader round of the last commit executed so far. */
  constructor(self: Address | null, record: EpochRecord, afterRound: Round) {
    this.#self = self
    this.#begin(record, afterRound)
  }

  /** Rounds of the members of the running epoch. */
  get members(): ReadonlyMap<Address, Readonly<Rounds>> {
    return this.#members
  }

  /** In how many rounds in which it had a seat this validator made no vertex that became final, in all epochs. */
  get ownMissed(): number {
    return this.#ownMissed
  }

  get leadersSkipped(): number {
    return this.#leadersSkipped
  }

  #begin({ rules, members }: EpochRecord, afterRound: number): void {
    this.#depth = rules.collectionDepthRounds
    this.#next = afterRound + 1
    this.#leaderRound = afterRound
    this.#authors.clear()
    this.#members = new Map(
      members.map(({ address }) => [address, this.#members.get(address) ?? { made: 0, missed: 0 }]),
    )
  }

  epochStarted(record: EpochRecord): void {
    this.#begin(record, record.firstRound - 1)
  }

  committed({ leaderRound, headers }: Committed): void {
    // Slots are decided in their order, without a gap: those between two commits were skipped.
    this.#leadersSkipped += leaderRound - this.#leaderRound - 1
    this.#leaderRound = leaderRound
    for (const { round, author } of headers) this.#authorsOf(round).add(author)
    for (const settled = leaderRound - this.#depth; this.#next <= settled; this.#next++) this.#count(this.#next)
  }

  #authorsOf(round: number): Set<Address> {
    let authors = this.#authors.get(round)
    if (authors === undefined) {
      authors = new Set()
      this.#authors.set(round, authors)
    }
    return authors
  }

  #count(round: number): void {
    const authors = this.#authors.get(round)
    this.#authors.delete(round)
    for (const [address, rounds] of this.#members) {
      if (authors?.has(address) === true) rounds.made++
      else {
        rounds.missed++
        if (address === this.#self) this.#ownMissed++
      }
    }
  }
}
