/**
 * Bounds the transactions that every node is told of and nobody pays for. A single payment can empty an account, and all
 * that it has pending behind it is worthless. So beyond its next transaction, an account has told to others:
 *
 * - as many as it has paid fees here, less those that it made worthless (its credit);
 * - more out of a stock that all accounts share. A loan comes back once its transaction is paid for. One that becomes
 *   worthless comes back with time alone.
 *
 * So the worthless ones are at most as many as the fees paid, the stock, and what time has brought back. An account that
 * is forgotten has less credit, never more.
 */
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"

/** More than a window of nonces is of no use. */
export const MOST_CREDIT = Limits.NONCE_WINDOW - 1
/** Accounts that are remembered. The one that paid longest ago is forgotten first. */
export const ACCOUNTS = 10_000
/** The stock, and how long it takes until one that was lost comes back. */
export const STOCK = 2_048
export const BACK_AFTER_MS = 100

export class Credit {
  /** In the order of the last payment. */
  readonly #accounts = new Map<Address, number>()
  readonly #stock: number
  #lent = 0
  /** When everything lost has come back. */
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

  /** How many more may be lent. */
  left(now: Timestamp): number {
    const lost = divideFloor(Math.max(0, this.#backAt - now) + BACK_AFTER_MS - 1, BACK_AFTER_MS)
    return Math.max(0, this.#stock - this.#lent - lost)
  }

  /** The account has paid a fee. */
  paid(account: Address): void {
    const credit = Math.min(MOST_CREDIT, this.of(account) + 1)
    this.#accounts.delete(account)
    const [stalest] = this.#accounts.keys()
    if (this.#accounts.size >= ACCOUNTS && stalest !== undefined) this.#accounts.delete(stalest)
    this.#accounts.set(account, credit)
  }

  /** Others were told of so many transactions of the account that nobody pays for. */
  lost(account: Address, count: number, now: Timestamp): void {
    const credit = this.of(account)
    if (count < credit) this.#accounts.set(account, credit - count)
    else this.#accounts.delete(account)
    const beyond = Math.max(0, count - credit)
    if (beyond > 0) this.#backAt = Math.max(this.#backAt, now) + beyond * BACK_AFTER_MS
  }

  /** For an account that has borrowed `before` and needs `wanted`: how many it has now. */
  lend(before: number, wanted: number, now: Timestamp): number {
    const lent = Math.min(wanted, before + this.left(now))
    this.#lent += lent - before
    return lent
  }
}
