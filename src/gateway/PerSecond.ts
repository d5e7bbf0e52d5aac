/** A rate limit per second, shared fairly among client networks so that none can use it all. */
import { Budget } from "../edge/admission/Budget.js"

export class PerSecond {
  readonly #limit: number
  readonly #now: () => number
  #second = Number.NEGATIVE_INFINITY
  #left: Budget

  /** `now`: milliseconds of a clock that never runs backwards. */
  constructor(limit: number, now: () => number) {
    this.#limit = limit
    this.#now = now
    this.#left = new Budget(limit)
  }

  take(client: string): boolean {
    const second = Math.floor(this.#now() / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#left = new Budget(this.#limit)
    }
    return this.#left.take(client, 1)
  }
}
