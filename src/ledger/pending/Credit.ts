/**
 * Bounds the transactions that are relayed to every node and that nobody pays for. A single payment can empty an
 * account and make all of its pending transactions worthless. Beyond its next transaction, an account can therefore
 * have only these relayed:
 *
 * - as many as it paid fees for here, less those that it made worthless (its credit);
 * - more on loan from a stock that all accounts share. A loan is returned when its transaction pays; if the
 *   transaction becomes worthless, only time restores the stock.
 *
 * The worthless ones are thus at most the fees paid, plus the stock, plus what time has restored. Forgetting an account
 * only ever reduces its credit.
 */
import { Recent } from "../../collections/Recent.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"

/** An account can use no more than a window of nonces. */
export const MOST_CREDIT = Limits.NONCE_WINDOW - 1
/** Accounts remembered; the one whose last payment is oldest is forgotten first. */
export const ACCOUNTS = 10_000
/** The shared stock, and the time that restores a lost loan. */
export const STOCK = 2_048
export const BACK_AFTER_MS = 100

export class Credit {
  /** In the order of the last payment. */
  readonly #accounts = new Recent<Address, number>(ACCOUNTS)
  readonly #stock: number
  #lent = 0
  /** When time has restored all lost loans. */
  #backAt = 0

  constructor(stock: number) {
    this.#stock = stock
  }

  get size(): number {
    return this.#accounts.size
  }

  of(account: Address): number {
    return this.#accounts.get(account) ?? 0
  }

  left(now: Timestamp): number {
    const lost = divideFloor(Math.max(0, this.#backAt - now) + BACK_AFTER_MS - 1, BACK_AFTER_MS)
    return Math.max(0, this.#stock - this.#lent - lost)
  }

  paid(account: Address): void {
    this.#accounts.set(account, Math.min(MOST_CREDIT, this.of(account) + 1))
  }

  /** Records that the account made `count` relayed transactions worthless. */
  lost(account: Address, count: number, now: Timestamp): void {
    const credit = this.of(account)
    if (count < credit) this.#accounts.change(account, credit - count)
    else this.#accounts.delete(account)
    const beyond = Math.max(0, count - credit)
    if (beyond > 0) this.#backAt = Math.max(this.#backAt, now) + beyond * BACK_AFTER_MS
  }

  /** Returns the number of loans that an account has after asking for `wanted`, if it had `before`. */
  lend(before: number, wanted: number, now: Timestamp): number {
    const lent = Math.min(wanted, before + this.left(now))
    this.#lent += lent - before
    return lent
  }
}
