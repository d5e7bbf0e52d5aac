/**
 * Performs work while it has not held the thread for long, and the rest after everybody else had a turn: of each client in
 * its order, of all clients in turn, so that nobody waits for all that one of them has sent. A burst of large bodies
 * arrives within one turn of the event loop: taken at once, it would keep the node's own work, timers and other sockets
 * waiting for as long as all of it takes. Where the node is late with what only it can do, there is a pause between the
 * turns: a door that takes in all there is would keep it late for good.
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

/** The steps of one client. */
interface Queue {
  readonly steps: Array<() => void>
  next: number
}

export class TurnScheduler {
  readonly #options: Options
  /** Of each client that waits, in the order in which it is their turn. */
  readonly #waiting = new Map<string, Queue>()
  #isUnderWay = false
  #openedAt = Number.NEGATIVE_INFINITY
  #closesAt = Number.NEGATIVE_INFINITY

  constructor(options: Options) {
    this.#options = options
  }

  /** Performs the step now or later. It must not throw. */
  schedule(client: string, step: () => void): void {
    if (!this.#isUnderWay) this.#begin()
    if (this.#waiting.size === 0 && this.#isOpen) {
      step()
      return
    }
    const own = this.#waiting.get(client)
    if (own === undefined) this.#waiting.set(client, { steps: [step], next: 0 })
    else own.steps.push(step)
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
    if (this.#waiting.size === 0) return
    this.#begin()
    while (this.#isOpen) {
      const [next] = this.#waiting
      if (next === undefined) return
      this.#performOne(...next)
    }
  }

  /** The first step of a client; its other steps wait until every other client had one. */
  #performOne(client: string, queue: Queue): void {
    this.#waiting.delete(client)
    const step = queue.steps[queue.next++]
    if (queue.next < queue.steps.length) this.#waiting.set(client, queue)
    step?.()
  }
}
