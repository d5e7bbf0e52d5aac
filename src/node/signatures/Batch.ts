/** The checks sent to a thread in one message, all by the same rule. */
import { type Check, isStrictlyValid, isValid } from "../../protocol/transaction/Verification.js"
import type { Job, Piece, Place } from "./Job.js"

/** Signatures per batch; more would only make the other threads wait. */
export const MOST = 32
/** The cost of accepting by the rule for vertices, in native checks: about 0.3 ms. */
export const COST_OF_YES = 5

/**
 * A check that a thread has. There is one for every signature of the network, so rarely used parts are allocated on
 * demand.
 */
export interface UnderWay extends Place {
  readonly check: Check
  /** Other places waiting for the same check; null while there are none. */
  others: Array<Place> | null
  /** Whether copies are looked up by its signature. */
  isListed: boolean
}

export const underWay = (job: Job, at: number, check: Check): UnderWay => ({
  job,
  at,
  check,
  others: null,
  isListed: false,
})

export type Batch = ReadonlyArray<UnderWay>

export const allOf = ({ job, from, to }: Piece): Batch =>
  job.checks.slice(from, to).map((check, i) => underWay(job, from + i, check))

export const isByZip215 = (batch: Batch): boolean => batch[0]?.job.isByZip215 ?? false

export const costOf = (batch: Batch): number => batch.length * (isByZip215(batch) ? COST_OF_YES : 1)

export const checksIn = (batch: Batch): ReadonlyArray<Check> => batch.map(({ check }) => check)

export const resultsOf = (batch: Batch): Uint8Array => {
  const holds = isByZip215(batch) ? isValid : isStrictlyValid
  return Uint8Array.from(checksIn(batch), (check) => (holds(check) ? 1 : 0))
}
