/** Lets a repeated warning through once a minute, with the number of those suppressed since. */

const EVERY_MS = 60_000
/** Limit of remembered warnings: a message that contains a number differs each time. */
const MOST_KEYS = 256

interface Last {
  readonly at: number
  leftOut: number
}

export class Repetitions {
  readonly #last = new Map<string, Last>()

  /** How many were suppressed before this one; null to suppress this one too. */
  admit(key: string, now: number): number | null {
    const last = this.#last.get(key)
    if (last !== undefined && now - last.at < EVERY_MS && now >= last.at) {
      last.leftOut += 1
      return null
    }
    if (last === undefined && this.#last.size >= MOST_KEYS) this.#last.clear()
    this.#last.set(key, { at: now, leftOut: 0 })
    return last?.leftOut ?? 0
  }
}
