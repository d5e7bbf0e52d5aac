/**
 * Limits for each account what costs every node a signature check and pays nothing: transactions that left the pool without
 * being executed, because they were replaced or became invalid. Time forgives them one by one, and so does each fee that
 * the account pays. Not counted are those that others' fees evicted, or its own: anybody could send an account's
 * transactions to a full pool, to have them evicted again and again.
 *
 * An account's moment is when everything counted so far is forgiven. It has reached its limit while that is too far ahead.
 */
import type { Address } from "../../protocol/identity/Address.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"

/** An account may waste this many at once. */
export const UNPAID_PER_ACCOUNT = 16
/** One is forgiven in this time. */
export const FORGIVEN_AFTER_MS = 60_000
/** More than a window of nonces is not counted, so that a single change of keys never costs an account hours. */
const MOST_COUNTED = 64
/** Accounts that are remembered. Those charged longest ago are forgotten first. */
export const ACCOUNTS = 10_000

export class Unpaid {
  /** When everything of the account is forgiven, in the order of the last charge. */
  readonly #accounts = new Map<Address, number>()

  get size(): number {
    return this.#accounts.size
  }

  /** One of the account's transactions has left without being executed. */
  charge(account: Address, now: Timestamp): void {
    const since = Math.max(this.#accounts.get(account) ?? 0, now)
    this.#accounts.delete(account)
    if (this.#accounts.size >= ACCOUNTS) this.#forgetOldest()
    this.#accounts.set(account, Math.min(since + FORGIVEN_AFTER_MS, now + MOST_COUNTED * FORGIVEN_AFTER_MS))
  }

  #forgetOldest(): void {
    const [oldest] = this.#accounts.keys()
    if (oldest !== undefined) this.#accounts.delete(oldest)
  }

  /** The account has paid a fee. */
  forgive(account: Address, now: Timestamp): void {
    const forgivenAt = this.#accounts.get(account)
    if (forgivenAt === undefined) return
    if (forgivenAt - FORGIVEN_AFTER_MS <= now) this.#accounts.delete(account)
    else this.#accounts.set(account, forgivenAt - FORGIVEN_AFTER_MS)
  }

  /** How long until time forgives the account one more; 0 while it has not reached its limit. */
  waitMs(account: Address, now: Timestamp): number {
    const forgivenAt = this.#accounts.get(account)
    return forgivenAt === undefined ? 0 : Math.max(0, forgivenAt - now - (UNPAID_PER_ACCOUNT - 1) * FORGIVEN_AFTER_MS)
  }
}
