/**
 * A clock for the budgets of strangers: the later this thread's timers, the slower it goes. A budget that takes a tenth
 * of an idle core takes most of what a busy machine leaves to a node, and rounds need that.
 */

export interface Timers {
  readonly now: () => number
  readonly after: (ms: number, act: () => void) => void
}

/** How often it checks how late timers are, while the clock is in use. */
const LOOK_MS = 40
const UNUSED_MS = 1_000
/** Timers of a machine with time to spare are up to this late. */
const USUAL_MS = 2
/** The weight of one check in the mean. */
const WEIGHT = 1 / 8
/** The clock never goes slower than this. */
export const LEAST_SHARE = 0.02

export class SpareTime {
  readonly #timers: Timers
  #time = 0
  #at: number
  #usedAt: number
  #meanLatenessMs = 0
  #isLooking = false

  constructor(timers: Timers) {
    this.#timers = timers
    this.#at = timers.now()
    this.#usedAt = this.#at
  }

  /** This clock's milliseconds since an arbitrary moment. */
  now(): number {
    this.#advance()
    this.#usedAt = this.#at
    if (!this.#isLooking) this.#lookLater()
    return this.#time
  }

  /** How fast the clock goes at present: 1 on a machine with time to spare. */
  share(): number {
    this.now()
    return this.#share
  }

  get #share(): number {
    return Math.max(LEAST_SHARE, Math.min(1, USUAL_MS / this.#meanLatenessMs) ** 2)
  }

  #advance(): void {
    const at = this.#timers.now()
    this.#time += Math.max(0, at - this.#at) * this.#share
    this.#at = at
  }

  #lookLater(): void {
    this.#isLooking = true
    const due = this.#at + LOOK_MS
    this.#timers.after(LOOK_MS, () => {
      this.#advance()
      // Timers can also be a fraction of a millisecond early.
      this.#meanLatenessMs += (Math.max(0, this.#at - due) - this.#meanLatenessMs) * WEIGHT
      this.#isLooking = false
      if (this.#at - this.#usedAt < UNUSED_MS) this.#lookLater()
    })
  }
}

/** Of this process's main thread. */
const ofThread = new SpareTime({
  now: () => performance.now(),
  after: (ms, act) => void setTimeout(act, ms).unref(),
})

export const now = (): number => ofThread.now()
export const share = (): number => ofThread.share()
