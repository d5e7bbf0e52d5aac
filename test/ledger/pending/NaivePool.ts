/** The mempool by its definition: every answer comes from a full search. */
import { EXEMPT_PER_SENDER, LIFETIME_MS } from "../../../src/ledger/pending/PendingTransactions.js"
import { FORGIVEN_AFTER_MS, UNPAID_PER_ACCOUNT } from "../../../src/ledger/pending/Unpaid.js"
import * as Charges from "../../../src/protocol/transaction/Charges.js"
import type { Transaction } from "../../../src/protocol/transaction/Transaction.js"
import type { World } from "./World.js"

interface Pending {
  readonly transaction: Transaction
  readonly receivedAt: number
  readonly sinceRound: number
  readonly arrival: number
}

export const isExempt = ({ operation }: Transaction): boolean => Charges.isExempt(operation._tag)

export class NaivePool {
  readonly #world: World
  readonly #capacity: number
  pending: ReadonlyArray<Pending> = []
  #arrivals = 0
  #now = 0
  /** For each account, the penalties left, in milliseconds until they expire. */
  readonly #unpaid = new Map<string, number>()

  constructor(world: World, capacity: number) {
    this.#world = world
    this.#capacity = capacity
  }

  of(from: string): ReadonlyArray<Pending> {
    return this.pending
      .filter(({ transaction }) => transaction.from === from)
      .sort((a, b) => a.transaction.nonce - b.transaction.nonce)
  }

  /** How many follow the account's nonce without a gap. */
  reachable(from: string): number {
    const nonces = new Set(this.of(from).map(({ transaction }) => Number(transaction.nonce)))
    const next = Number(this.#world.account(from).nonce)
    let count = 0
    while (nonces.has(next + count)) count++
    return count
  }

  /** Penalties expire with time. */
  #passTo(now: number): void {
    for (const [from, left] of this.#unpaid) this.#unpaid.set(from, Math.max(0, left - Math.max(0, now - this.#now)))
    this.#now = Math.max(this.#now, now)
  }

  #charge(from: string, count: number): void {
    const left = (this.#unpaid.get(from) ?? 0) + count * FORGIVEN_AFTER_MS
    this.#unpaid.set(from, Math.max(0, Math.min(left, 64 * FORGIVEN_AFTER_MS)))
  }

  #isThrottled(from: string): boolean {
    return (this.#unpaid.get(from) ?? 0) > (UNPAID_PER_ACCOUNT - 1) * FORGIVEN_AFTER_MS
  }

  submit(transaction: Transaction, now: number, round: number): string {
    this.#passTo(now)
    if (this.pending.some((each) => each.transaction.id === transaction.id)) return "known"
    const own = this.of(transaction.from)
    const replaced = own.find((each) => each.transaction.nonce === transaction.nonce)
    const others = own.filter((each) => each !== replaced)
    const reserved = others.reduce((sum, each) => sum + this.#world.spending(each.transaction), 0)
    const rejection = this.#world.admission(transaction, reserved)
    if (rejection !== undefined) return rejection._tag
    if (replaced !== undefined) {
      const old = replaced.transaction.fee
      if (transaction.fee * 10 < old * 11 || transaction.fee < old + 1) return "NoncePending"
    }
    if (isExempt(transaction) && others.filter((each) => isExempt(each.transaction)).length >= EXEMPT_PER_SENDER) {
      return "MempoolFull"
    }
    const isNext = replaced === undefined && transaction.nonce === this.#world.account(transaction.from).nonce
    if (this.#isThrottled(transaction.from) && !isNext) return "AccountThrottled"
    const entry = { transaction, receivedAt: now, sinceRound: round, arrival: this.#arrivals++ }
    if (replaced !== undefined) this.#charge(transaction.from, 1)
    this.pending = [...this.pending.filter((each) => each !== replaced), entry]
    if (this.pending.length <= this.#capacity) return "new"
    const leaving = this.#worst()
    this.pending = this.pending.filter((each) => each !== leaving)
    return leaving === entry ? "MempoolFull" : "new"
  }

  #worst(): Pending | undefined {
    const exempt = this.pending.filter(({ transaction }) => isExempt(transaction))
    const lane =
      exempt.length * 10 > this.#capacity ? exempt : this.pending.filter(({ transaction }) => !isExempt(transaction))
    const worth = (entry: Pending) => {
      const { from, nonce } = entry.transaction
      const upTo = lane.filter((each) => each.transaction.from === from && each.transaction.nonce <= nonce)
      const isReachable = nonce < Number(this.#world.account(from).nonce) + this.reachable(from)
      return {
        fee: isReachable ? Math.min(...upTo.map(({ transaction }) => transaction.fee)) : -1,
        arrival: Math.max(...upTo.map(({ arrival }) => arrival)),
      }
    }
    return lane
      .map((entry) => ({ entry, ...worth(entry) }))
      .sort(
        (a, b) => a.fee - b.fee || b.arrival - a.arrival || b.entry.transaction.nonce - a.entry.transaction.nonce,
      )[0]?.entry
  }

  expire(now: number): void {
    this.#passTo(now)
    this.pending = this.pending.filter(({ receivedAt }) => now - receivedAt < LIFETIME_MS)
  }

  /** What these accounts can still do. */
  review(senders: Iterable<string>): void {
    for (const from of new Set(senders)) {
      const { nonce, balance } = this.#world.account(from)
      let spent = 0
      for (const entry of this.of(from)) {
        const spending = this.#world.spending(entry.transaction)
        if (entry.transaction.nonce >= nonce && spent + spending <= balance) spent += spending
        else {
          this.drop(entry.transaction.id)
          const isExecuted = entry.transaction.nonce < nonce
          if (!isExecuted) this.#charge(from, 1)
          else if (!isExempt(entry.transaction)) this.#charge(from, -1)
        }
      }
    }
  }

  drop(id: string): void {
    this.pending = this.pending.filter(({ transaction }) => transaction.id !== id)
  }

  /** Highest fee first, among equals the earlier arrival. */
  byFee(): ReadonlyArray<string> {
    return [...this.pending]
      .sort((a, b) => b.transaction.fee - a.transaction.fee || a.arrival - b.arrival)
      .map(({ transaction }) => transaction.id)
  }
}
