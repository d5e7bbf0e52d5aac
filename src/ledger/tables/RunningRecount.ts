/**
 * Continuously recounts the supply in memory, some accounts at each commit. Changes to accounts already counted are
 * reported to the count. A balance changed in any other way, by a bug or a memory fault, is found once the count passes
 * it, at the latest by the next count.
 */
import { Either } from "effect"
import * as Sats from "../../protocol/numbers/Sats.js"
import { Recount } from "./Recount.js"
import type { State } from "./State.js"
import type { SupplyInvariantViolated } from "./Supply.js"

/** A count takes at most this many commits, except where `MOST_ROWS` slows it down. */
const COMMITS = 512
const LEAST_ROWS = 16
/** Takes some tenths of a millisecond. */
const MOST_ROWS = 8_192

export class RunningRecount {
  #recount = new Recount()

  /** After a commit: counts the next accounts and, after the last, compares the totals. */
  step(state: State): Either.Either<void, SupplyInvariantViolated> {
    const rows = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Sats.divideFloor(state.accounts.size, COMMITS) + 1))
    const recount = this.#recount
    if (!state.accounts.countInto(recount, rows)) return Either.void
    this.#recount = new Recount()
    state.countRest(recount)
    return Either.map(recount.finish(), () => undefined)
  }
}
