/**
 * Lets work through while it has not held the thread for long, and the rest, in its order, after everybody else had a
 * turn. A burst of large bodies arrives within one turn of the event loop: taken at once, it would keep the node's own
 * work, timers and other sockets waiting for as long as all of it takes. Where the node is late with what only it can do,
 * there is a pause between the turns: a door that takes in all there is would keep it late for good.
 */
export interface Options {
  /** Milliseconds of a clock that never runs backwards. */
  readonly now: () => number
  /** How long one turn of the event loop may be used. */
  readonly turnMs: number
  /** Whether the node is late. */
  readonly isPressed: () => boolean
  /** From the beginning of a turn to the next one while it is. */
  readonly pauseMs: number
}

export class Turnstile {
  readonly #options: Options
  readonly #waiting: Array<() => void> = []
  #isUnderWay = false
  #openedAt = Number.NEGATIVE_INFINITY
  #closesAt = Number.NEGATIVE_INFINITY

  constructor(options: Options) {
    this.#options = options
  }

  /** Performs the step now or later. It must not throw. */
  pass(step: () => void): void {
    if (!this.#isUnderWay) this.#begin()
    if (this.#waiting.length === 0 && this.#isOpen) step()
    else this.#waiting.push(step)
  }

  get #isOpen(): boolean {
    return this.#options.now() < this.#closesAt
  }

  /** A turn, or the pause before it. */
  #begin(): void {
    const { now, turnMs, isPressed, pauseMs } = this.#options
    const at = now()
    const pause = isPressed() ? this.#openedAt + pauseMs - at : 0
    this.#isUnderWay = true
    if (pause > 0) {
      setTimeout(() => this.#end(), pause)
      return
    }
    this.#openedAt = at
    this.#closesAt = at + turnMs
    setImmediate(() => this.#end())
  }

  /** Then those who wait have their turn. */
  #end(): void {
    this.#isUnderWay = false
    this.#closesAt = Number.NEGATIVE_INFINITY
    if (this.#waiting.length === 0) return
    this.#begin()
    let passed = 0
    while (passed < this.#waiting.length && this.#isOpen) this.#waiting[passed++]?.()
    this.#waiting.splice(0, passed)
  }
}
