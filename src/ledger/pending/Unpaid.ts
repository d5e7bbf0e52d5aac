/**
 * Limits, per account, transactions that cost every node a signature check and pay nothing: those that left the mempool
 * unexecuted because they were replaced or became invalid. Time forgives them one by one, as does each fee that the
 * account pays. Evictions do not count: anybody could send an account's transactions to a full mempool to have them
 * evicted again and again.
 *
 * The stored moment is when everything counted so far is forgiven. An account has reached its limit while that moment
 * is too far ahead.
 */
import { Recent } from "../../collections/Recent.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"

/** An account can waste this many at once. */
export const UNPAID_PER_ACCOUNT = 16
export const FORGIVEN_AFTER_MS = 60_000
/** Counting no more than a window of nonces keeps a change of keys from costing an account hours. */
const MOST_COUNTED = 64
/** Accounts remembered; those charged longest ago are forgotten first. */
export const ACCOUNTS = 10_000

export class Unpaid {
  /** When everything of the account is forgiven, ordered by the last charge. */
  readonly #accounts = new Recent<Address, number>(ACCOUNTS)

  get size(): number {
    return this.#accounts.size
  }

  /** Counts a transaction of the account that left without being executed. */
  charge(account: Address, now: Timestamp): void {
    const since = Math.max(this.#accounts.get(account) ?? 0, now)
    this.#accounts.set(account, Math.min(since + FORGIVEN_AFTER_MS, now + MOST_COUNTED * FORGIVEN_AFTER_MS))
  }

  forgive(account: Address, now: Timestamp): void {
    const forgivenAt = this.#accounts.get(account)
    if (forgivenAt === undefined) return
    if (forgivenAt - FORGIVEN_AFTER_MS <= now) this.#accounts.delete(account)
    else this.#accounts.change(account, forgivenAt - FORGIVEN_AFTER_MS)
  }

  /** The time until the account is forgiven one more; 0 below its limit. */
  waitMs(account: Address, now: Timestamp): number {
    const forgivenAt = this.#accounts.get(account)
    return forgivenAt === undefined ? 0 : Math.max(0, forgivenAt - now - (UNPAID_PER_ACCOUNT - 1) * FORGIVEN_AFTER_MS)
  }
}
