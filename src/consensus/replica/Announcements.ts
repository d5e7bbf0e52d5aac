/**
 * Transactions that came in through this node's own door. The others are told at once, and again from time to time while
 * a transaction stands in no vertex: what was said into a partition, or before a crash, would otherwise stay here.
 */
import type { PendingTransactions } from "../../ledger/PendingTransactions.js"
import type { Timestamp } from "../../protocol/Counter.js"
import type { Hash } from "../../protocol/Hash.js"
import type { Transaction } from "../../protocol/Transaction.js"

/** What one message holds; one transaction is always let through. */
const MESSAGE_BYTES = 262_144

const NOTHING: ReadonlyArray<never> = []

export class Announcements {
  readonly #everyMs: number
  #fresh: Array<Transaction> = []
  #told = new Set<Hash>()
  #tellsAgainAt: number | null = null

  /** `everyMs`: how long a transaction may take into a vertex before it is told again. */
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

  /** What to say now, a message each. */
  take(pool: PendingTransactions, now: Timestamp): ReadonlyArray<ReadonlyArray<Transaction>> {
    const fresh = this.#fresh
    if (fresh.length === 0 && !this.#isDue(now)) return NOTHING
    this.#fresh = []
    for (const { id } of fresh) this.#told.add(id)
    return messagesOf([...fresh, ...this.#again(pool, now)])
  }

  /** A clock that was set back would otherwise hold everything up until it is where it was. */
  #isDue(now: Timestamp): boolean {
    const due = this.#tellsAgainAt
    return due === null || now >= due || due - now > this.#everyMs
  }

  #again(pool: PendingTransactions, now: Timestamp): ReadonlyArray<Transaction> {
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

const messagesOf = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<ReadonlyArray<Transaction>> => {
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
