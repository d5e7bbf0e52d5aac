/**
 * Detects that this process was paused: stopped, or on a machine that was suspended or too busy. Meanwhile somebody may
 * have started another process with its key, so its next action may be wrong. Both clocks are checked, because the
 * steady one can stop with the machine and the wall clock can be set. A wall clock that was set looks like a pause,
 * which costs only a question.
 */
import type { Timestamp } from "../protocol/numbers/Natural.js"

/** Checks are more frequent than that; a busy machine may be late by one or two. */
const TOLERATED_INTERVALS = 4
const MIN_TOLERATED_MS = 2_000

export interface Seen {
  readonly count: number
  readonly lastMs: number
}

export class Pauses {
  readonly #toleratedMs: number
  #last: { readonly steady: number; readonly wall: number } | null = null
  #seen: Seen = { count: 0, lastMs: 0 }

  constructor(roundIntervalMs: number) {
    this.#toleratedMs = Math.max(MIN_TOLERATED_MS, TOLERATED_INTERVALS * roundIntervalMs)
  }

  /** Must be called before anything else is done at this time. */
  look(steady: Timestamp, wallAheadMs: number): boolean {
    const wall = steady + wallAheadMs
    const last = this.#last
    this.#last = { steady, wall }
    if (last === null) return false
    const gapMs = Math.max(steady - last.steady, wall - last.wall)
    if (gapMs <= this.#toleratedMs) return false
    this.#seen = { count: this.#seen.count + 1, lastMs: gapMs }
    return true
  }

  get seen(): Seen {
    return this.#seen
  }
}
