/** Lets something through at most once in a while. */
export class Pace {
  readonly everyMs: number
  #next = 0

  constructor(everyMs: number) {
    this.everyMs = everyMs
  }

  /** Whether it is time; if so, the next time is `everyMs` away. */
  isDue(now: number): boolean {
    // A clock that was set back would otherwise hold everything up until it is where it was.
    if (now < this.#next && this.#next - now <= this.everyMs) return false
    this.#next = now + this.everyMs
    return true
  }

  /** When it is time again. */
  nextAfter(now: number): number {
    return this.#next > now && this.#next - now <= this.everyMs ? this.#next : now + this.everyMs
  }
}
