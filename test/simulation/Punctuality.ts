/**
 * Checks that no round begins too early. T(r) is when the first honest machine makes a vertex of round r or above, in
 * any epoch; n rounds take at least n intervals, minus the allowed burst. One running maximum compares each round with
 * all earlier ones.
 */
import * as RoundClock from "../../src/consensus/RoundClock.js"
import { Violation } from "./Witness.js"
import { ROUND_MS } from "./World.js"

/** Machines read whole milliseconds. */
const ROUNDING_MS = 1

export class Punctuality {
  #highest = 0
  /** How late the latest round was, against a schedule of one round per interval. */
  #latestMs = Number.NEGATIVE_INFINITY
  /** The most by which a round was early, against all earlier rounds. */
  mostEarlyMs = 0

  made(machine: string, round: number, members: number, now: number): void {
    if (round <= this.#highest) return
    this.#highest = round
    const lateMs = now - round * ROUND_MS
    const earlyMs = this.#latestMs - lateMs
    this.#latestMs = Math.max(this.#latestMs, lateMs)
    this.mostEarlyMs = Math.max(this.mostEarlyMs, earlyMs)
    const { burstMs } = RoundClock.rateOf(ROUND_MS, members, "budget")
    if (earlyMs <= burstMs + ROUNDING_MS) return
    throw new Violation(machine, `makes round ${round} ${earlyMs} ms early, where ${burstMs} are allowed`)
  }
}
