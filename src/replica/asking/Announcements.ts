/**
 * Announces the transactions that clients submitted to this node, as soon as others may be told of them: one after a missing
 * nonce may never be paid for, and waits here until the gap closes. So does one beyond what its sender may have told, and
 * one from a peer, which nobody relayed while the gap was open. They go to the peers at once, or a moment later
 * together with those that follow closely: a message costs every node about as much as checking five signatures,
 * whatever its size.
 *
 * A transaction that is in no vertex yet is announced again from time to time: an announcement made during a partition, or
 * before a crash, would otherwise be lost. What a peer brought in a message that is not relayed, since another transaction
 * in it is worthless, is announced unless a vertex has it a moment later: others may have received the same message.
 */
import type { PendingTransactions, Received } from "../../ledger/pending/PendingTransactions.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"

/** Limit of one message; a single transaction always passes. */
const MESSAGE_BYTES = 262_144
/**
 * At most one message is repeated in this time. A full mempool, repeated all at once, would overflow the queues of streams, and
 * the same transactions would be lost every time.
 */
const AGAIN_EVERY_MS = 100

export interface Pace {
  /** Least time between two announcements of new transactions. */
  readonly gatheredMs: number
  /** How long a transaction may take into a vertex before it is announced again. */
  readonly againMs: number
  /** How long what was overheard may take into a vertex before it is announced. */
  readonly overheardMs: number
}

export class Announcements {
  readonly #pace: Pace
  #announcedAt: number | null = null
  #fresh: Array<Transaction> = []
  /** Waited after a missing nonce. */
  #reached: Array<Transaction> = []
  /** When each is to be announced again, the next one first. */
  readonly #announced = new Map<Hash, number>()
  /** When each is to be announced unless a vertex has it, the next one first. */
  readonly #overheard = new Map<Hash, number>()
  /** When to look at the next one. */
  #repeatsAt = Number.POSITIVE_INFINITY

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** How many transactions may have to be announced, or announced again. */
  get size(): number {
    return this.#fresh.length + this.#reached.length + this.#announced.size + this.#overheard.size
  }

  /** When the next announcement may be due. */
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

  /** These have become executable after they waited here. */
  reached(transactions: ReadonlyArray<Transaction>): void {
    for (const transaction of transactions) this.#reached.push(transaction)
  }

  /** A peer brought these in a message that is not relayed. */
  overheard(transactions: ReadonlyArray<Transaction>, now: Timestamp): void {
    for (const { id } of transactions) {
      // As a new entry it is the last one.
      this.#overheard.delete(id)
      if (this.#overheard.size < Limits.MEMPOOL_TRANSACTIONS) this.#overheard.set(id, now + this.#pace.overheardMs)
    }
  }

  /** Counts these, in the order of arrival, as announced then: they may have been before the restart. */
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

  /** What was overheard long enough ago. */
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
    // As a new entry it is the last one.
    this.#announced.delete(id)
    this.#announced.set(id, dueAt)
    this.#repeatsAt = Math.min(this.#repeatsAt, dueAt)
  }

  #again(pool: PendingTransactions, now: Timestamp): ReadonlyArray<Transaction> {
    if (now < this.#repeatsAt) return []
    this.#repeatsAt = Number.POSITIVE_INFINITY
    const again: Array<Transaction> = []
    let room = MESSAGE_BYTES
    // Those that stay are appended, which ends the loop at the latest.
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
