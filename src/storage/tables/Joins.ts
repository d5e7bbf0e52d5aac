/** The fast sync under way: its target, and the pieces of the state received so far. */
import { Effect, Either, Option } from "effect"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import type { StorageError } from "../files/StorageError.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"

export interface Join {
  readonly target: Checkpoint.SignedCheckpoint
  /** Checked against the target's root, in the order of arrival. */
  readonly subtrees: ReadonlyArray<Uint8Array>
}

export interface Joins {
  /** Begins a fast sync; deletes the pieces of any other target. */
  readonly begin: (target: Checkpoint.SignedCheckpoint) => Effect.Effect<void, StorageError>
  readonly add: (subtree: Uint8Array) => Effect.Effect<void, StorageError>
  readonly kept: Effect.Effect<Option.Option<Join>, StorageError>
}

const targetOf = (row: Column.Row): Checkpoint.SignedCheckpoint =>
  Either.getOrElse(Checkpoint.decodeSigned(Column.bytes(row, 0)), ({ message }) => {
    throw new Column.UnexpectedValue(message)
  })

/** Gives up a fast sync to the close of an earlier epoch; part of a larger transaction. */
export const forgetBefore = (sql: Sql, epoch: Epoch): void => sql`delete from joins where epoch < ${epoch}`.run()

export const make = (database: Database): Joins => ({
  begin: (target) =>
    database.write((sql) =>
      Effect.sync(() => {
        sql`delete from joins`.run()
        sql`insert into joins (epoch, target)
          values (${target.checkpoint.epoch}, ${Checkpoint.encodeSigned(target)})`.run()
      }),
    ),

  add: (subtree) =>
    database.write((sql) =>
      Effect.sync(() => sql`insert into join_subtrees (epoch, bytes) select epoch, ${subtree} from joins`.run()),
    ),

  kept: database.read((sql) =>
    Effect.gen(function* () {
      const [join] = yield* sql`select target from joins`.values
      if (join === undefined) return Option.none()
      const rows = yield* sql`select bytes from join_subtrees order by id`.values
      return Option.some({ target: targetOf(join), subtrees: rows.map((row) => Column.bytes(row, 0)) })
    }),
  ),
})
