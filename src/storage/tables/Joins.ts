/** The fast sync in progress: its target, and the pieces of the state received so far. */
import { Effect, Either, Option } from "effect"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"

const targetOf = (row: Column.Row): Checkpoint.SignedCheckpoint =>
  Either.getOrElse(Checkpoint.decodeSigned(Column.bytes(row, 0)), ({ message }) => {
    throw new Column.UnexpectedValue(message)
  })

/** Drops a fast sync to an earlier epoch's close. Part of a larger transaction. */
export const forgetBefore = (sql: Sql, epoch: Epoch): void => sql`delete from joins where epoch < ${epoch}`.run()

export const make = (database: Database) => ({
  /** Begins a fast sync and deletes pieces of any other target. */
  begin: (target: Checkpoint.SignedCheckpoint) =>
    database.run((sql) => {
      sql`delete from joins`.run()
      sql`insert into joins (epoch, target)
        values (${target.checkpoint.epoch}, ${Checkpoint.encodeSigned(target)})`.run()
    }),

  add: (subtree: Uint8Array) =>
    database.run((sql) => sql`insert into join_subtrees (epoch, bytes) select epoch, ${subtree} from joins`.run()),

  /** The pieces in order of arrival, already checked against the target's root. */
  kept: database.read((sql) =>
    Effect.gen(function* () {
      const [join] = yield* sql`select target from joins`.values
      if (join === undefined) return Option.none()
      const rows = yield* sql`select bytes from join_subtrees order by id`.values
      return Option.some({ target: targetOf(join), subtrees: rows.map((row) => Column.bytes(row, 0)) })
    }),
  ),
})
