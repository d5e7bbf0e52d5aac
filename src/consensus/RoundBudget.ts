/**
 * How early a validator may make a round. Rounds are paid for with time: each costs one interval, and unspent time is
 * credit for at most a burst of rounds. This is the generic cell rate algorithm (ITU-T I.371), whose whole state is the
 * moment until which everything is paid.
 *
 * Let T(r) be when the first honest member makes a vertex of round r or above. While less than a third of each
 * committee's weight is dishonest, T(r + n) ≥ T(r) + n intervals − burst, whatever the others do. The first honest
 * member in a round cannot have jumped there, since a quorum or a third in that round includes an honest member. So its
 * budget allowed that round, and its payments cover all rounds since r: see docs/decisions/pace.md.
 */
import type { Round } from "../protocol/numbers/Natural.js"

/** Four payments of three rounds. */
export const BURST_ROUNDS = 12
/** A single validator alone decides how fast its network is. */
export const BURST_ROUNDS_ALONE = 600

export interface Price {
  /** The price of a round: an interval, or nothing. */
  readonly costMs: number
  readonly burstMs: number
}

export interface RoundBudget {
  /** The last round this process has paid for; null before the first. */
  readonly round: Round | null
  /** No round may be made earlier, unless others have made it. */
  readonly paidUntil: number
}

/**
 * A new process knows neither when its last round was made nor its debt. A debt is never more than one round, so it
 * waits for one.
 */
export const begin = (now: number, { costMs }: Price): RoundBudget => ({ round: null, paidUntil: now + costMs })

/**
 * Pays for a round. Skipped rounds are paid for too, but only from credit: otherwise a node that was away for an hour
 * would be late in every round of the next. A first round takes all credit, since others may have spent theirs on the
 * rounds before.
 */
export const pay = ({ round: last, paidUntil }: RoundBudget, round: Round, now: number, price: Price): RoundBudget => {
  const { costMs, burstMs } = price
  const skipped = last === null ? 0 : Math.max(0, round - last - 1)
  const paid = last === null ? now : Math.max(paidUntil, now - burstMs) + skipped * costMs
  return { round, paidUntil: Math.min(now, paid) + costMs }
}
