/** How much of something may come in a while: so much at once, and so much a second after that. */
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

  /** Another rate from now on; what is left stays, up to the new burst. */
  change(rate: Rate, now: number): void {
    if (rate === this.#rate) return
    this.#refill(now)
    this.#rate = rate
  }

  /** Takes it in any case; gives how many milliseconds to wait before taking more. */
  take(amount: number, now: number): number {
    this.#refill(now)
    const credited = Math.min(amount, this.#credit)
    this.#credit -= credited
    this.#left -= amount - credited
    return this.waitMs
  }

  /**
   * What was asked for may come besides what time allows. Credit is used first, and a full allowance takes it too; it adds
   * up to `most`.
   */
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
