/** How much of something may come in a while: so much at once, and so much a second after that. */
export class Allowance {
  readonly #burst: number
  readonly #perSecond: number
  #left: number
  #at: number

  constructor(burst: number, perSecond: number, now: number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#left = burst
    this.#at = now
  }

  /** Takes it in any case; gives how many milliseconds to wait before taking more. */
  take(amount: number, now: number): number {
    this.#left = Math.min(this.#burst, this.#left + (Math.max(0, now - this.#at) * this.#perSecond) / 1_000)
    this.#at = now
    this.#left -= amount
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left * 1_000) / this.#perSecond)
  }
}
