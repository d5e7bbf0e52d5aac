/**
 * An assertion failed while a commit was executed. No input can cause this, so it is a bug. The message names the item
 * being executed, so the last line of a log is enough to find it. The ledger is left in the middle of the commit: do
 * not use it again and write nothing of the commit.
 */
import { Data } from "effect"
import type { Hash } from "../protocol/identity/Hash.js"
import type { Commit } from "../protocol/vertex/Commit.js"

/** The item being executed; null between vertices or between transactions. */
export interface Place {
  readonly vertex: Hash | null
  readonly transaction: Hash | null
}

export const NOWHERE: Place = { vertex: null, transaction: null }

const named = (what: string, hash: Hash | null): string => (hash === null ? "" : `, ${what} ${hash}`)

export class ExecutionFault extends Data.TaggedError("ExecutionFault")<{
  readonly commit: Commit
  readonly place: Place
  readonly cause: unknown
}> {
  override get message(): string {
    const { commit, place, cause } = this
    return (
      `commit ${commit.index} (epoch ${commit.epoch}, leader round ${commit.leaderRound}, hash ${commit.hash})` +
      `${named("vertex", place.vertex)}${named("transaction", place.transaction)}: ${String(cause)}`
    )
  }
}
