/**
 * Many rows with few statements: a statement that takes 128 rows costs little more than one that takes a single row.
 * The texts are few and fixed, so that every one of them stays prepared.
 */
import type { SqlClient, SqlError } from "@effect/sql"
import { Effect } from "effect"

/** What a column can be given. Numbers beyond 32 bits travel as doubles and are stored exactly: all are safe integers. */
export type Value = string | number | Uint8Array | null

export interface Insert {
  /** `table (column, column)` */
  readonly into: string
  readonly columns: number
  /** The clause behind the values, if any. */
  readonly onConflict: string
}

const STATEMENT_ROWS = [128, 16, 1]

const textOf = ({ into, columns, onConflict }: Insert, rows: number): string => {
  const row = `(${Array<string>(columns).fill("?").join(", ")})`
  return `insert into ${into} values ${Array<string>(rows).fill(row).join(", ")} ${onConflict}`
}

/** An insert of this form; the values stand one row after the other. */
export const make = (insert: Insert) => {
  const statements = STATEMENT_ROWS.map((rows) => ({ text: textOf(insert, rows), size: rows * insert.columns }))

  return (sql: SqlClient.SqlClient, values: ReadonlyArray<Value>): Effect.Effect<void, SqlError.SqlError> =>
    Effect.gen(function* () {
      let done = 0
      for (const { text, size } of statements) {
        for (; values.length - done >= size; done += size) {
          yield* sql.unsafe(text, values.slice(done, done + size)).raw
        }
      }
    })
}
