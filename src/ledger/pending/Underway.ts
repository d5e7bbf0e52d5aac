/**
 * Transactions from peers whose signatures are being checked: which of them are charged already, and up to which nonce
 * those of an account follow each other. Those after them are not early.
 */
import { Recent } from "../../collections/Recent.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"

/** Of each kind: more than are checked at a time. */
const MOST = 4_096
/** Longer than a check takes. After a failed one, later transactions are early again. */
const CHECKED_WITHIN_MS = 5_000

interface Next {
  readonly nonce: number
  readonly at: Timestamp
}

export class Underway {
  readonly #charged = new Recent<Hash, true>(MOST)
  readonly #next = new Recent<Address, Next>(MOST)

  charge({ id }: Transaction): void {
    this.#charged.set(id, true)
  }

  /** Whether it was charged, which counts only once. */
  takeCharge({ id }: Transaction): boolean {
    const isCharged = this.#charged.get(id) === true
    if (isCharged) this.#charged.delete(id)
    return isCharged
  }

  #nextOf(account: Address, now: Timestamp): number {
    const next = this.#next.get(account)
    return next === undefined || now - next.at > CHECKED_WITHIN_MS ? 0 : next.nonce
  }

  /** Whether those with all nonces from the account's reach up to this one are being checked. */
  hasAllBefore({ from, nonce }: Transaction, now: Timestamp): boolean {
    return nonce <= this.#nextOf(from, now)
  }

  /** The transaction is not early. */
  begin({ from, nonce }: Transaction, now: Timestamp): void {
    this.#next.set(from, { nonce: Math.max(nonce + 1, this.#nextOf(from, now)), at: now })
  }
}
