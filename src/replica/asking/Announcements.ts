/**
 * Announces transactions that clients submitted here, once others may be told. A transaction after a missing nonce
 * might never be paid for, so it waits until the gap closes; so do transactions beyond their sender's allowance, and
 * those from a peer that were not relayed because of the gap. Announcements that follow closely are gathered: a message
 * costs every node about as much as verifying five signatures, whatever its size.
 *
 * A transaction without a vertex is announced again from time to time, because an announcement during a partition or
 * before a crash is lost. If a peer's message is not relayed because another transaction in it is worthless, its good
 * transactions are announced unless a vertex has them a moment later: others may have received the same message.
 */
import type { PendingTransactions, Received } from "../../ledger/pending/PendingTransactions.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"

/** Limit of one message; a single transaction always passes. */
const MESSAGE_BYTES = 262_144
/**
 * At most one message is repeated in this time. Repeating a full mempool at once would overflow the streams' queues and
 * lose the same transactions every time.
 */
const AGAIN_EVERY_MS = 100

export interface Pace {
  /** The least time between two announcements of new transactions. */
  readonly gatheredMs: number
  /** How long a transaction may be without a vertex before it is announced again. */
  readonly againMs: number
  /** How long an overheard transaction may be without a vertex before it is announced. */
  readonly overheardMs: number
}

export class Announcements {
  readonly #pace: Pace
  #announcedAt: number | null = null
  #fresh: Array<Transaction> = []
  #reached: Array<Transaction> = []
  /** When to announce each again, soonest first. */
  readonly #announced = new Map<Hash, number>()
  /** When to announce each unless a vertex has it, soonest first. */
  readonly #overheard = new Map<Hash, number>()
  /** When to check the next repetition. */
  #repeatsAt = Number.POSITIVE_INFINITY

  constructor(pace: Pace) {
    this.#pace = pace
  }

  get size(): number {
    return this.#fresh.length + this.#reached.length + this.#announced.size + this.#overheard.size
  }

  /** When the next announcement can be due. */
  wakeAt(now: Timestamp): number | null {
    if (this.#fresh.length + this.#reached.length > 0)
      return this.#isGathered(now) ? now : (this.#announcedAt ?? now) + this.#pace.gatheredMs
    const [overheard = Number.POSITIVE_INFINITY] = this.#overheard.values()
    const at = Math.min(this.#announced.size === 0 ? Number.POSITIVE_INFINITY : this.#repeatsAt, overheard)
    return at === Number.POSITIVE_INFINITY ? null : at
  }

  add(transaction: Transaction): void {
    this.#fresh.push(transaction)
  }

  /** These have become executable after waiting here. */
  reached(transactions: ReadonlyArray<Transaction>): void {
    for (const transaction of transactions) this.#reached.push(transaction)
  }

  overheard(transactions: ReadonlyArray<Transaction>, now: Timestamp): void {
    for (const { id } of transactions) {
      // Deleting first makes it the last entry.
      this.#overheard.delete(id)
      if (this.#overheard.size < Limits.MEMPOOL_TRANSACTIONS) this.#overheard.set(id, now + this.#pace.overheardMs)
    }
  }

  /** Takes these, in order of arrival, as announced when received: they may have been, before the restart. */
  restore(received: Iterable<Received>): void {
    for (const { transaction, receivedAt } of received) this.#repeatAfter(transaction.id, receivedAt)
  }

  /** The announcements due now, one message each. */
  take(pool: PendingTransactions, now: Timestamp): ReadonlyArray<ReadonlyArray<Transaction>> {
    const fresh = this.#isGathered(now) ? this.#gathered(pool, now) : []
    if (fresh.length > 0) this.#announcedAt = now
    return messagesOf([...fresh, ...this.#due(pool, now), ...this.#again(pool, now)])
  }

  #gathered(pool: PendingTransactions, now: Timestamp): ReadonlyArray<Transaction> {
    if (this.#fresh.length + this.#reached.length === 0) return []
    const [fresh, reached] = [this.#fresh, this.#reached]
    this.#fresh = []
    this.#reached = []
    for (const { id } of fresh) this.#repeatAfter(id, now)
    const waited = reached.filter((transaction) => !pool.isIncluded(transaction))
    return [...new Set([...fresh, ...waited])].filter((transaction) => pool.isTold(transaction))
  }

  #due(pool: PendingTransactions, now: Timestamp): ReadonlyArray<Transaction> {
    const due: Array<Transaction> = []
    for (const [id, dueAt] of this.#overheard) {
      if (dueAt > now) break
      this.#overheard.delete(id)
      const transaction = pool.get(id)?.transaction
      if (transaction !== undefined && pool.isTold(transaction) && !pool.isIncluded(transaction)) due.push(transaction)
    }
    return due
  }

  #isGathered(now: Timestamp): boolean {
    const before = this.#announcedAt
    return before === null || now - before >= this.#pace.gatheredMs
  }

  #repeatAfter(id: Hash, announcedAt: number): void {
    const dueAt = announcedAt + this.#pace.againMs
    this.#announced.delete(id)
    this.#announced.set(id, dueAt)
    this.#repeatsAt = Math.min(this.#repeatsAt, dueAt)
  }

  #again(pool: PendingTransactions, now: Timestamp): ReadonlyArray<Transaction> {
    if (now < this.#repeatsAt) return []
    this.#repeatsAt = Number.POSITIVE_INFINITY
    const again: Array<Transaction> = []
    let room = MESSAGE_BYTES
    // Kept entries are appended with a later time, which ends the loop.
    for (const [id, dueAt] of this.#announced) {
      const transaction = pool.get(id)?.transaction
      const isToldAgain = transaction !== undefined && pool.isTold(transaction) && !pool.isIncluded(transaction)
      if (dueAt > now || (isToldAgain && again.length > 0 && transaction.encoded.length > room)) {
        this.#repeatsAt = again.length === 0 ? dueAt : Math.max(dueAt, now + AGAIN_EVERY_MS)
        break
      }
      if (transaction === undefined) this.#announced.delete(id)
      else this.#repeatAfter(id, now)
      if (!isToldAgain) continue
      again.push(transaction)
      room -= transaction.encoded.length
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
