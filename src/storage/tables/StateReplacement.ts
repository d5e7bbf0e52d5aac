/** Replaces the executed state by a closing checkpoint's, at the end of a fast sync. */
import type { SqlError } from "@effect/sql"
import { Effect, Either } from "effect"
import type { Opening } from "../../consensus/output/Opening.js"
import * as Subtree from "../../ledger/trie/Subtree.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import * as Column from "../sqlite/Column.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Checkpoints from "./Checkpoints.js"
import * as CommitBatch from "./CommitBatch.js"
import * as Epochs from "./Epochs.js"

/** Tables whose content does not carry over. */
const REPLACED_TABLES = ["accounts", "records", "accounts_before", "records_before", "vertices", "openings"]

/** The new state of `target`, made of the fetched pieces; the closing checkpoints that lead to it; the next epoch. */
export interface Replacement {
  readonly target: SignedCheckpoint
  readonly proven: ReadonlyArray<SignedCheckpoint>
  readonly opening: Opening
}

/** The records of an encoded subtree that was checked before it was stored. */
export const recordsOf = (bytes: Uint8Array): ReadonlyArray<StateRecord.StateRecord> =>
  Subtree.entriesOf(Either.getOrThrow(Subtree.decode(bytes))).map(({ value }) =>
    Either.getOrThrow(StateRecord.decode(value)),
  )

/** Turns the fetched pieces into the state, one after the other, in one transaction. */
export const write = (sql: Sql, { target, proven, opening }: Replacement): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    for (const signed of [...proven, target]) Checkpoints.put(sql, { ...signed, hasQuorum: true })
    for (const table of REPLACED_TABLES) sql.text(`delete from ${table}`).run()
    const subtrees = yield* sql`select id from join_subtrees order by id`.values
    for (const row of subtrees) {
      const [subtree = []] = yield* sql`select bytes from join_subtrees where id = ${Column.integer(row, 0)}`.values
      CommitBatch.writeChanges(sql, recordsOf(Column.bytes(subtree, 0)))
    }
    sql`delete from joins`.run()
    Epochs.insert(sql, opening)
  })
