/** Limits how often something happens, by a clock that is never set. */
export class Pace {
  readonly everyMs: number
  #next = 0

  constructor(everyMs: number) {
    this.everyMs = everyMs
  }

  /** Whether it is due. If so, it is next due after this time. */
  isDue(now: number, afterMs: number = this.everyMs): boolean {
    if (now < this.#next) return false
    this.#next = now + afterMs
    return true
  }

  /** Makes it due only after a full interval. */
  putOff(now: number): void {
    this.#next = now + this.everyMs
  }

  nextAfter(now: number): number {
    return this.#next > now ? this.#next : now + this.everyMs
  }
}
