/**
 * Transactions that came in through this node's own door. The others are told at once, or a moment later together with
 * those that follow closely: a message costs every node about as much as checking five signatures, whatever is in it. And
 * again from time to time while a transaction stands in no vertex: what was said into a partition, or before a crash, would
 * otherwise stay here.
 */
import type { PendingTransactions } from "../../ledger/pending/PendingTransactions.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"

/** What one message holds; one transaction is always let through. */
const MESSAGE_BYTES = 262_144

const NOTHING: ReadonlyArray<never> = []

export interface Pace {
  /** Least time between two tellings of what has just come in. */
  readonly gatheredMs: number
  /** How long a transaction may take into a vertex before it is told again. */
  readonly againMs: number
}

export class Announcements {
  readonly #pace: Pace
  #toldAt: number | null = null
  #fresh: Array<Transaction> = []
  #told = new Set<Hash>()
  #tellsAgainAt: number | null = null

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** How many transactions may have to be told again. */
  get size(): number {
    return this.#fresh.length + this.#told.size
  }

  /** When something may have to be told. */
  wakeAt(now: Timestamp): number | null {
    if (this.#fresh.length > 0) return this.#isGathered(now) ? now : (this.#toldAt ?? now) + this.#pace.gatheredMs
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
    const fresh = this.#isGathered(now) ? this.#fresh : NOTHING
    if (fresh.length === 0 && !this.#isDue(now)) return NOTHING
    if (fresh.length > 0) {
      this.#fresh = []
      this.#toldAt = now
    }
    for (const { id } of fresh) this.#told.add(id)
    return messagesOf([...fresh, ...this.#again(pool, now)])
  }

  #isGathered(now: Timestamp): boolean {
    const before = this.#toldAt
    return before === null || now - before >= this.#pace.gatheredMs
  }

  #isDue(now: Timestamp): boolean {
    const due = this.#tellsAgainAt
    return due === null || now >= due
  }

  #again(pool: PendingTransactions, now: Timestamp): ReadonlyArray<Transaction> {
    if (!this.#isDue(now)) return []
    const { againMs } = this.#pace
    this.#tellsAgainAt = now + againMs
    const again: Array<Transaction> = []
    for (const id of this.#told) {
      const received = pool.get(id)
      if (received === undefined) this.#told.delete(id)
      else if (now - received.receivedAt >= againMs && !pool.isIncluded(received.transaction))
        again.push(received.transaction)
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
