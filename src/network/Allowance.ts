/** A rate limit: an initial burst, then a rate per second. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

export class Allowance {
  #rate: Rate
  #left: number
  #at: number
  #credit = 0

  constructor(rate: Rate, now: number) {
    this.#rate = rate
    this.#left = rate.burst
    this.#at = now
  }

  /** Changes the rate. The remaining allowance carries over, up to the new burst. */
  change(rate: Rate, now: number): void {
    if (rate === this.#rate) return
    this.#refill(now)
    this.#rate = rate
  }

  /** Always takes the amount; returns how many milliseconds to wait before taking more. */
  take(amount: number, now: number): number {
    this.#refill(now)
    const credited = Math.min(amount, this.#credit)
    this.#credit -= credited
    this.#left -= amount - credited
    return this.waitMs
  }

  /** Adds credit for requested data, which is used before the rate. Credit is capped at `most`. */
  credit(amount: number, most: number): void {
    this.#credit = Math.min(most, this.#credit + amount)
  }

  earn(amount: number): void {
    this.#left = Math.min(this.#rate.burst, this.#left + amount)
  }

  /** How many milliseconds to wait before taking more, as of the last call. */
  get waitMs(): number {
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left * 1_000) / this.#rate.perSecond)
  }

  #refill(now: number): void {
    const { burst, perSecond } = this.#rate
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#at) * perSecond) / 1_000)
    this.#at = now
  }
}
