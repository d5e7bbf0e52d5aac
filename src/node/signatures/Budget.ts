/**
 * Limits the total use by peers of each rank. Members, being few, are limited by fair turns alone. Strangers get less on
 * a busy machine.
 */
import { Allowance, type Rate } from "../../network/Allowance.js"
import * as SpareTime from "../../turns/SpareTime.js"
import type { Rank } from "./FairQueue.js"

/** A rank without a rate has no limit. */
export type Rates = { readonly [rank in Rank]?: Rate }

export interface Clock {
  readonly now: () => number
  readonly spareNow: () => number
  /** How fast `spareNow` goes. */
  readonly spareShare: () => number
}

export const CLOCK: Clock = { now: () => performance.now(), spareNow: SpareTime.now, spareShare: SpareTime.share }

export class Budget {
  readonly #clock: Clock
  readonly #allowances: ReadonlyMap<string, Allowance>

  constructor(rates: Rates, clock: Clock) {
    this.#clock = clock
    this.#allowances = new Map(
      Object.entries(rates).map(([rank, rate]) => [rank, new Allowance(rate, this.#now(rank))]),
    )
  }

  #now(rank: string): number {
    return rank === "stranger" ? this.#clock.spareNow() : this.#clock.now()
  }

  has(rank: Rank): boolean {
    const allowance = this.#allowances.get(rank)
    return allowance === undefined || allowance.take(0, this.#now(rank)) === 0
  }

  take(rank: Rank, amount: number): void {
    this.#allowances.get(rank)?.take(amount, this.#now(rank))
  }
}
