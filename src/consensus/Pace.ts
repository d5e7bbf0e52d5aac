/** Lets something through at most once in a while, by a clock that is never set. */
export class Pace {
  readonly everyMs: number
  #next = 0

  constructor(everyMs: number) {
    this.everyMs = everyMs
  }

  /** Whether it is time; if so, the next time is `everyMs` away. */
  isDue(now: number): boolean {
    if (now < this.#next) return false
    this.#next = now + this.everyMs
    return true
  }

  /** When it is time again. */
  nextAfter(now: number): number {
    return this.#next > now ? this.#next : now + this.everyMs
  }
}
