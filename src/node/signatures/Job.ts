/** A caller's request to check signatures, and its results as they arrive. */
import type { Check } from "../../protocol/transaction/Verification.js"
import type { Owner } from "./FairQueue.js"

export interface Lane {
  readonly owner: Owner
  /** Whether a round waits for it. */
  readonly isUrgent: boolean
}

export interface Job {
  readonly checks: ReadonlyArray<Check>
  /** 1 for each valid one, filled in as answers arrive. */
  readonly results: Uint8Array
  /** Outstanding results; also 0 once a rejection by the rule for vertices has decided the job. */
  missing: number
  readonly lane: Lane
  readonly isByZip215: boolean
  readonly complete: (results: Uint8Array) => void
}

/** A range of a job's checks: large jobs are spread over the threads. */
export interface Piece {
  readonly job: Job
  readonly from: number
  readonly to: number
}

/** One check of a job, by its index. */
export interface Place {
  readonly job: Job
  readonly at: number
}

export const whole = (job: Job): Piece => ({ job, from: 0, to: job.checks.length })

export const settle = (job: Job, at: number, result: number): void => {
  if (job.missing === 0) return
  job.results[at] = result
  const isDecided = job.isByZip215 && result === 0
  job.missing = isDecided ? 0 : job.missing - 1
  if (job.missing === 0) job.complete(job.results)
}
