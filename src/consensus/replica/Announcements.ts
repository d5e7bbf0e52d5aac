/**
 * Transactions that came in through this node's own door. Who is to propose them is told at once. Everybody is told from
 * time to time while a transaction stands in no vertex: what was said into a partition, to a member that is gone, or
 * before a crash would otherwise stay here.
 */
import type { PendingTransactions } from "../../ledger/PendingTransactions.js"
import type { Address } from "../../protocol/Address.js"
import type { Timestamp } from "../../protocol/Counter.js"
import type { EpochRecord } from "../../protocol/EpochRecord.js"
import type { Hash } from "../../protocol/Hash.js"
import type { Transaction } from "../../protocol/Transaction.js"
import { assignment } from "./Assignment.js"
import type { PeerId } from "./Peer.js"
import type { Peers } from "./Peers.js"

/** What one message holds; one transaction is always let through. */
const MESSAGE_BYTES = 262_144

const NOTHING: ReadonlyArray<never> = []

/** Who may be told. */
export interface Audience {
  readonly record: EpochRecord
  /** This node's validator, where it has a seat. */
  readonly seated: Address | null
  readonly peers: Peers
}

/** One message. */
export interface Announcement {
  readonly to: PeerId | "everybody"
  readonly transactions: ReadonlyArray<Transaction>
}

export class Announcements {
  readonly #everyMs: number
  #fresh: Array<Transaction> = []
  #told = new Set<Hash>()
  #tellsAgainAt: number | null = null

  /** `everyMs`: how long a transaction may take into a vertex before everybody is told. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** How many transactions may have to be told again. */
  get size(): number {
    return this.#fresh.length + this.#told.size
  }

  get hasNews(): boolean {
    return this.#fresh.length > 0
  }

  /** When something may have to be told again. */
  get wakeAt(): number | null {
    return this.#told.size === 0 ? null : this.#tellsAgainAt
  }

  add(transaction: Transaction): void {
    this.#fresh.push(transaction)
  }

  /** Counts as told: whoever had these before a restart may have told them. */
  restore(ids: Iterable<Hash>): void {
    for (const id of ids) this.#told.add(id)
  }

  /** What to say now. */
  take(pool: PendingTransactions, audience: Audience, now: Timestamp): ReadonlyArray<Announcement> {
    const fresh = this.#fresh
    if (fresh.length === 0 && !this.#isDue(now)) return NOTHING
    this.#fresh = []
    for (const { id } of fresh) this.#told.add(id)
    const addressed = new Map<Announcement["to"], Array<Transaction>>([["everybody", this.#again(pool, now)]])
    const proposing = proposingIn(audience)
    for (const transaction of fresh) {
      for (const to of proposing(transaction.from)) {
        const before = addressed.get(to)
        if (before === undefined) addressed.set(to, [transaction])
        else before.push(transaction)
      }
    }
    return [...addressed].flatMap(([to, transactions]) => cut(transactions).map((part) => ({ to, transactions: part })))
  }

  /** A clock that was set back would otherwise hold everything up until it is where it was. */
  #isDue(now: Timestamp): boolean {
    const due = this.#tellsAgainAt
    return due === null || now >= due || due - now > this.#everyMs
  }

  #again(pool: PendingTransactions, now: Timestamp): Array<Transaction> {
    if (!this.#isDue(now)) return []
    this.#tellsAgainAt = now + this.#everyMs
    const again: Array<Transaction> = []
    for (const id of this.#told) {
      const received = pool.get(id)
      if (received === undefined) this.#told.delete(id)
      else if (now - received.receivedAt >= this.#everyMs && !pool.isIncluded(id)) again.push(received.transaction)
    }
    return again
  }
}

/**
 * The member whose turn it is, and one that steps in for it after some rounds: this node itself, where it has a seat.
 * Everybody else meets the transaction in a vertex. It need not be fetched, judged and kept by all of them before that.
 */
const proposingIn = ({ record, seated, peers }: Audience) => {
  const memberAt = assignment(record)
  return (account: Address): ReadonlyArray<Announcement["to"]> => {
    const first = memberAt(account)
    if (first === seated) return []
    const connected = peers.peersOf(first)
    if (seated !== null) return connected
    const told = new Set([...connected, ...peers.peersOf(memberAt(account, 1))])
    return told.size > 0 ? [...told] : ["everybody"]
  }
}

/** Into what one message holds. */
const cut = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<ReadonlyArray<Transaction>> => {
  const messages: Array<Array<Transaction>> = []
  let room = 0
  for (const transaction of transactions) {
    room -= transaction.encoded.length
    const open = messages.at(-1)
    if (open !== undefined && room >= 0) open.push(transaction)
    else {
      messages.push([transaction])
      room = MESSAGE_BYTES - transaction.encoded.length
    }
  }
  return messages
}
