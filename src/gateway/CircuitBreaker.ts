/**
 * How a node has answered the questions that were put to it: a circuit breaker. One that has failed is left alone for a while, and
 * then one question shows whether it answers again. Times are those of a clock that is never set, in milliseconds.
 */

/** In a row. */
const MOST_FAILURES = 2
const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 30_000

export class CircuitBreaker {
  #failures = 0
  #restMs = FIRST_REST_MS
  #restsUntil = 0
  #isTried = false

  get isGood(): boolean {
    return this.#failures < MOST_FAILURES
  }

  /** Whether it has rested, and no question is under way that would show how it is. */
  isDue(now: number): boolean {
    return !this.isGood && !this.#isTried && now >= this.#restsUntil
  }

  /** A question is put to it first, although others are good. */
  try(): void {
    this.#isTried = true
  }

  /** Nobody waits for the answer any more. */
  leave(): void {
    this.#isTried = false
  }

  answered(): void {
    this.#failures = 0
    this.#restMs = FIRST_REST_MS
    this.#isTried = false
  }

  failed(now: number): void {
    this.#isTried = false
    this.#failures++
    // Those that were under way when it failed say nothing new.
    if (this.isGood || now < this.#restsUntil) return
    this.#restsUntil = now + this.#restMs
    this.#restMs = Math.min(2 * this.#restMs, LONGEST_REST_MS)
  }
}
