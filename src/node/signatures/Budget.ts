/** Limits the total use by peers of each rank. Members, being few, are limited by fair turns alone. */
import { Allowance, type Rate } from "../../network/Allowance.js"
import type { Rank } from "./FairQueue.js"

/** A rank without a rate has no limit. */
export type Rates = { readonly [rank in Rank]?: Rate }

export class Budget {
  readonly #allowances: ReadonlyMap<string, Allowance>

  constructor(rates: Rates, now: number) {
    this.#allowances = new Map(Object.entries(rates).map(([rank, rate]) => [rank, new Allowance(rate, now)]))
  }

  has(rank: Rank, now: number): boolean {
    const allowance = this.#allowances.get(rank)
    return allowance === undefined || allowance.take(0, now) === 0
  }

  take(rank: Rank, amount: number, now: number): void {
    this.#allowances.get(rank)?.take(amount, now)
  }
}
