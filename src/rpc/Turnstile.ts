/**
 * Lets work through while it has not held the thread for long, and the rest, in its order, after everybody else had a
 * turn. A burst of large bodies arrives within one turn of the event loop: taken at once, it would keep the node's own
 * work, timers and other sockets waiting for as long as all of it takes.
 */
export interface Options {
  /** Milliseconds of a clock that never runs backwards. */
  readonly now: () => number
  /** How long one turn of the event loop may be used. */
  readonly turnMs: number
}

export class Turnstile {
  readonly #options: Options
  readonly #waiting: Array<() => void> = []
  /** When this turn is used up; undefined before anything has passed in it. */
  #closesAt: number | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** Performs the step now or later. It must not throw. */
  pass(step: () => void): void {
    const { now, turnMs } = this.#options
    if (this.#closesAt === undefined) {
      this.#closesAt = now() + turnMs
      setImmediate(() => this.#next())
    }
    if (this.#waiting.length === 0 && now() < this.#closesAt) step()
    else this.#waiting.push(step)
  }

  /** A new turn: at least one of those who wait passes. */
  #next(): void {
    this.#closesAt = undefined
    if (this.#waiting.length === 0) return
    const { now, turnMs } = this.#options
    const closesAt = now() + turnMs
    this.#closesAt = closesAt
    setImmediate(() => this.#next())
    let passed = 0
    do this.#waiting[passed++]?.()
    while (passed < this.#waiting.length && now() < closesAt)
    this.#waiting.splice(0, passed)
  }
}
