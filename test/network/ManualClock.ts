/** A clock that a test moves. */
import type { Clock } from "../../src/network/peers/Clock.js"

interface Due {
  readonly at: number
  readonly act: () => void
}

export class ManualClock implements Clock {
  #now: number
  #due: ReadonlyArray<Due> = []

  constructor(now: number) {
    this.#now = now
  }

  readonly now = (): number => this.#now

  readonly spareNow = this.now

  readonly spareShare = (): number => 1

  readonly after = (ms: number, act: () => void): (() => void) => {
    const due = { at: this.#now + ms, act }
    this.#due = [...this.#due, due]
    return () => {
      this.#due = this.#due.filter((each) => each !== due)
    }
  }

  readonly wait = (ms: number): Promise<void> => new Promise((resolve) => this.after(ms, resolve))

  /** When the next wait ends; infinity without one. */
  get next(): number {
    return Math.min(...this.#due.map(({ at }) => at))
  }

  /** Waits that end by then end now. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at)
    const over = this.#due.filter((due) => due.at <= this.#now)
    this.#due = this.#due.filter((due) => due.at > this.#now)
    for (const { act } of over) act()
  }
}
