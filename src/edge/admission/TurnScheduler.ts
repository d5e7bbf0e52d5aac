/**
 * Runs steps until they have held the thread for a while, then continues in later turns of the event loop, fairly among
 * clients. A burst of large bodies arrives within one turn: handled at once, it would delay the node's own work, timers
 * and other sockets. While the node is late with its own work, the scheduler pauses between turns so that the node can
 * catch up.
 */
import { Turns } from "./Turns.js"

export interface Options {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Time limit of one turn of the event loop. */
  readonly turnMs: number
  /** Whether the node is late. */
  readonly isPressed: () => boolean
  /** Time from one turn to the next while the node is late. */
  readonly pauseMs: number
}

export class TurnScheduler {
  readonly #options: Options
  readonly #waiting = new Turns<() => void>()
  #isUnderWay = false
  #openedAt = Number.NEGATIVE_INFINITY
  #closesAt = Number.NEGATIVE_INFINITY

  constructor(options: Options) {
    this.#options = options
  }

  /** Runs the step now or later. The step must not throw. */
  schedule(client: string, step: () => void): void {
    if (!this.#isUnderWay) this.#begin()
    if (this.#waiting.isEmpty && this.#isOpen) step()
    else this.#waiting.push(client, step)
  }

  get #isOpen(): boolean {
    return this.#options.now() < this.#closesAt
  }

  /** Starts a turn, or the pause before it. */
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

  /** Runs the waiting steps afterwards. */
  #end(): void {
    this.#isUnderWay = false
    this.#closesAt = Number.NEGATIVE_INFINITY
    if (this.#waiting.isEmpty) return
    this.#begin()
    while (this.#isOpen && !this.#waiting.isEmpty) this.#waiting.next()?.()
  }
}
