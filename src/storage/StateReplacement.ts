/** The state of a closing checkpoint in place of everything executed here, as a fast sync leaves it. */
import type { SqlClient, SqlError } from "@effect/sql"
import { Effect } from "effect"
import type { Opening } from "../consensus/Output.js"
import type { StateRecord } from "../protocol/StateRecord.js"
import * as CommitBatch from "./CommitBatch.js"
import * as Epochs from "./Epochs.js"

export interface StateReplacement {
  /** The whole state. */
  readonly records: Iterable<StateRecord>
  /** The epoch that goes on from it. */
  readonly opening: Opening
}

/** For one transaction. Commits, vertices and epochs of before stand in no chain with this state, and go. */
export const write = (
  sql: SqlClient.SqlClient,
  { records, opening }: StateReplacement,
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    for (const table of ["accounts", "records", "vertices", "openings"]) yield* sql.unsafe(`delete from ${table}`).raw
    yield* CommitBatch.writeChanges(sql, records)
    yield* Epochs.insert(sql, opening)
  })
