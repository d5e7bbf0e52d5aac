/** A limit on arrivals: a burst at once, and a rate per second after that. */
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

  /** Changes the rate; the remaining allowance stays, up to the new burst. */
  change(rate: Rate, now: number): void {
    if (rate === this.#rate) return
    this.#refill(now)
    this.#rate = rate
  }

  /** Takes the amount in any case; returns how many milliseconds to wait before taking more. */
  take(amount: number, now: number): number {
    this.#refill(now)
    const credited = Math.min(amount, this.#credit)
    this.#credit -= credited
    this.#left -= amount - credited
    return this.waitMs
  }

  /** Requested data may come on top of the rate: credit is used first, and adds up to at most `most`. */
  credit(amount: number, most: number): void {
    this.#credit = Math.min(most, this.#credit + amount)
  }

  /** More may come than time alone allows, up to the burst. */
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
