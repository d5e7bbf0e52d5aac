/**
 * Performs steps until they have held the thread for a while, and the rest in later turns of the event loop, fairly among
 * clients, so that nobody waits for everything that one client has sent. A burst of large
 * bodies arrives within one turn of the event loop: handled at once, it would delay the node's own work, timers and other
 * sockets until all of it is done. While the node is late with its own work, the scheduler pauses between turns: without
 * the pause, the node would stay late.
 */
import { Turns } from "./Turns.js"

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

export class TurnScheduler {
  readonly #options: Options
  readonly #waiting = new Turns<() => void>()
  #isUnderWay = false
  #openedAt = Number.NEGATIVE_INFINITY
  #closesAt = Number.NEGATIVE_INFINITY

  constructor(options: Options) {
    this.#options = options
  }

  /** Performs the step now or later. It must not throw. */
  schedule(client: string, step: () => void): void {
    if (!this.#isUnderWay) this.#begin()
    if (this.#waiting.isEmpty && this.#isOpen) step()
    else this.#waiting.push(client, step)
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

  /** Then the waiting steps have their turn. */
  #end(): void {
    this.#isUnderWay = false
    this.#closesAt = Number.NEGATIVE_INFINITY
    if (this.#waiting.isEmpty) return
    this.#begin()
    while (this.#isOpen && !this.#waiting.isEmpty) this.#waiting.next()?.()
  }
}
