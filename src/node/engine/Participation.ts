/**
 * Counts participation: for the account of each member of the running epoch, the rounds in which its vertex became final and those in
 * which none did, and the skipped leaders. Derived from commits alone, so all nodes that execute them count the same.
 *
 * A round counts once no later commit can order anything in it, or once its epoch has closed, which drops whatever is
 * unordered. The round of an epoch's last leader counts for nobody, since only that leader's vertex can be ordered.
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
  readonly #accountOf: (key: Address) => Address
  #depth = 0
  #next = 0
  #leaderRound = 0
  #authors = new Map<number, Set<Address>>()
  #members = new Map<Address, Rounds>()
  /** Members that lost their seat, kept for one more epoch so that readers see what the close counted. */
  #left = new Map<Address, Rounds>()
  #ownMissed = 0
  #leadersSkipped = 0

  /** `afterRound`: the leader round of the last executed commit. `accountOf`: the validator's that signs with a key. */
  constructor(
    self: Address | null,
    record: EpochRecord,
    afterRound: Round,
    accountOf: (key: Address) => Address = (key) => key,
  ) {
    this.#self = self
    this.#accountOf = accountOf
    this.#begin(record, afterRound)
  }

  /** Rounds of the members of the running epoch and the one before. */
  get members(): ReadonlyMap<Address, Readonly<Rounds>> {
    return new Map([...this.#left, ...this.#members])
  }

  /** Rounds in which this validator had a seat and none of its vertices became final, in all epochs. */
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
    const before = new Map([...this.#left, ...this.#members])
    this.#left = this.#members
    const accounts = members.map(({ address }) => this.#accountOf(address))
    this.#members = new Map(accounts.map((account) => [account, before.get(account) ?? { made: 0, missed: 0 }]))
    for (const account of this.#members.keys()) this.#left.delete(account)
  }

  /** The previous epoch was executed to its end. */
  epochStarted(record: EpochRecord): void {
    this.#countBelow(this.#leaderRound)
    this.#begin(record, record.firstRound - 1)
  }

  /** The node took over the outcome of epochs it has not executed; these count for nobody. */
  joined(record: EpochRecord): void {
    this.#begin(record, record.firstRound - 1)
  }

  committed({ leaderRound, headers }: Committed): void {
    // Leader slots are decided in order, without gaps: those between two commits were skipped.
    this.#leadersSkipped += leaderRound - this.#leaderRound - 1
    this.#leaderRound = leaderRound
    for (const { round, author } of headers) this.#authorsOf(round).add(this.#accountOf(author))
    this.#countBelow(leaderRound - this.#depth + 1)
  }

  #countBelow(end: number): void {
    for (; this.#next < end; this.#next++) this.#count(this.#next)
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
    const own = this.#self && this.#accountOf(this.#self)
    for (const [account, rounds] of this.#members) {
      if (authors?.has(account) === true) rounds.made++
      else {
        rounds.missed++
        if (account === own) this.#ownMissed++
      }
    }
  }
}
