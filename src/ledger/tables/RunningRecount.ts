/**
 * Counts the supply in memory again and again, some accounts at each commit, while the others move: an account that was
 * counted tells of its changes. So what changes a balance in any other way, such as a bug or a fault of the memory, is found
 * once the count has passed it; at the latest by the count after.
 */
import { Either } from "effect"
import * as Sats from "../../protocol/numbers/Sats.js"
import { Recount } from "./Recount.js"
import type { State } from "./State.js"
import type { SupplyInvariantViolated } from "./Supply.js"

/** A count takes at most this many commits, unless so many accounts at each are not enough. */
const COMMITS = 512
const LEAST_ROWS = 16
/** Some tenths of a millisecond. */
const MOST_ROWS = 8_192

export class RunningRecount {
  #recount = new Recount()

  /** After a commit: the next accounts, and once all are counted, the comparison. */
  step(state: State): Either.Either<void, SupplyInvariantViolated> {
    const rows = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Sats.divideFloor(state.accounts.size, COMMITS) + 1))
    const recount = this.#recount
    if (!state.accounts.countInto(recount, rows)) return Either.void
    this.#recount = new Recount()
    state.countRest(recount)
    return Either.map(recount.finish(), () => undefined)
  }
}
