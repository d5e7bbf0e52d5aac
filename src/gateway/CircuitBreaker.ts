/**
 * A circuit breaker for a node's answers. A failed node rests for a while, then a single question tests whether it
 * answers again. Times are monotonic milliseconds.
 */

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

  /** Whether it has rested and no test question is in progress. */
  isDue(now: number): boolean {
    return !this.isGood && !this.#isTried && now >= this.#restsUntil
  }

  /** Sends it a test question although others are healthy. */
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
    // Questions that were in progress when it failed say nothing new.
    if (this.isGood || now < this.#restsUntil) return
    this.#restsUntil = now + this.#restMs
    this.#restMs = Math.min(2 * this.#restMs, LONGEST_REST_MS)
  }
}
