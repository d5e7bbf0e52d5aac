/**
 * Announces the transactions that clients submitted to this node. They go to the peers at once, or a moment later
 * together with those that follow closely: a message costs every node about as much as checking five signatures,
 * whatever its size. A transaction that is in no vertex yet is announced again from time to time: an announcement made
 * during a partition, or before a crash, would otherwise be lost.
 */
import type { PendingTransactions } from "../../ledger/pending/PendingTransactions.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"

/** Limit of one message; a single transaction always passes. */
const MESSAGE_BYTES = 262_144

export interface Pace {
  /** Least time between two announcements of new transactions. */
  readonly gatheredMs: number
  /** How long a transaction may take into a vertex before it is announced again. */
  readonly againMs: number
}

export class Announcements {
  readonly #pace: Pace
  #announcedAt: number | null = null
  #fresh: Array<Transaction> = []
  #announced = new Set<Hash>()
  #repeatsAt = 0

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** How many transactions may have to be announced, or announced again. */
  get size(): number {
    return this.#fresh.length + this.#announced.size
  }

  /** When the next announcement may be due. */
  wakeAt(now: Timestamp): number | null {
    if (this.#fresh.length > 0) return this.#isGathered(now) ? now : (this.#announcedAt ?? now) + this.#pace.gatheredMs
    return this.#announced.size === 0 ? null : this.#repeatsAt
  }

  add(transaction: Transaction): void {
    this.#fresh.push(transaction)
  }

  /** Counts these as announced: they may have been before the restart. */
  restore(ids: Iterable<Hash>): void {
    for (const id of ids) this.#announced.add(id)
  }

  /** The announcements due now, one message each. */
  take(pool: PendingTransactions, now: Timestamp): ReadonlyArray<ReadonlyArray<Transaction>> {
    const fresh = this.#isGathered(now) ? this.#fresh : []
    if (fresh.length > 0) {
      this.#fresh = []
      this.#announcedAt = now
    }
    for (const { id } of fresh) this.#announced.add(id)
    return messagesOf([...fresh, ...this.#again(pool, now)])
  }

  #isGathered(now: Timestamp): boolean {
    const before = this.#announcedAt
    return before === null || now - before >= this.#pace.gatheredMs
  }

  #again(pool: PendingTransactions, now: Timestamp): ReadonlyArray<Transaction> {
    if (now < this.#repeatsAt) return []
    const { againMs } = this.#pace
    this.#repeatsAt = now + againMs
    const again: Array<Transaction> = []
    for (const id of this.#announced) {
      const received = pool.get(id)
      if (received === undefined) this.#announced.delete(id)
      else if (now - received.receivedAt >= againMs && !pool.isIncluded(received.transaction))
        again.push(received.transaction)
    }
    return again
  }
}

const messagesOf = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<ReadonlyArray<Transaction>> => {
  const messages: Array<ReadonlyArray<Transaction>> = []
  let message: Array<Transaction> = []
  let room = 0
  for (const transaction of transactions) {
    room -= transaction.encoded.length
    if (room < 0) {
      message = []
      messages.push(message)
      room = MESSAGE_BYTES - transaction.encoded.length
    }
    message.push(transaction)
  }
  return messages
}
