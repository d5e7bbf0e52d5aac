/**
 * Many rows with few statements: a statement that takes 128 rows costs little more than one that takes a single row.
 * The texts are few and fixed, so that every one of them stays prepared. Between the statements others have their turn:
 * a large commit takes longer than anybody should have to wait.
 */
import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import * as EventLoop from "./EventLoop.js"
import type { Sql, Value } from "./Sql.js"

/** Takes the values one row after the other; part of a transaction. */
export type Statement = (sql: Sql, values: ReadonlyArray<Value>) => Effect.Effect<void, SqlError.SqlError>

const STATEMENT_ROWS = [128, 64, 32, 16, 8, 4, 2, 1]
/** About ten milliseconds' worth, where the rows are not for another thread. */
const ROWS_BETWEEN_TURNS = 1_024

const repeated = (text: string, times: number): string => Array<string>(times).fill(text).join(", ")

/** Whatever is to be done with rows given as `(?, ?), (?, ?)`. */
export const from = (columns: number, textOf: (rows: string) => string): Statement => {
  const row = `(${repeated("?", columns)})`
  const texts = STATEMENT_ROWS.map((rows) => ({ text: textOf(repeated(row, rows)), size: rows * columns }))

  return (sql, values) =>
    Effect.gen(function* () {
      let done = 0
      let turn = ROWS_BETWEEN_TURNS * columns
      for (const { text, size } of texts) {
        for (; values.length - done >= size; done += size) {
          yield* sql.text(text, values.slice(done, done + size)).run
          if (done < turn) continue
          turn = done + ROWS_BETWEEN_TURNS * columns
          yield* EventLoop.turn
        }
      }
    })
}

/** Rows for `table (column, column)`; `onConflict` is the clause behind the values, if any. */
export const insert = (into: string, columns: number, onConflict = ""): Statement =>
  from(columns, (rows) => `insert into ${into} values ${rows} ${onConflict}`)

/** Takes out the rows whose `key` columns have these values. */
export const remove = (table: string, key: ReadonlyArray<string>): Statement =>
  from(key.length, (rows) => `delete from ${table} where (${key.join(", ")}) in (values ${rows})`)
