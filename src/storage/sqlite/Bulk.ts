/**
 * Writes many rows with few statements: 128 rows cost little more than one, and the few statement texts stay prepared.
 */
import type { Value } from "./Connection.js"
import type { Sql } from "./Sql.js"

/** Values follow row by row. Part of a transaction. */
export type Statement = (sql: Sql, values: ReadonlyArray<Value>) => void

const STATEMENT_ROWS = [128, 64, 32, 16, 8, 4, 2, 1]

const repeated = (text: string, times: number): string => Array<string>(times).fill(text).join(", ")

/** A statement over rows written as `(?, ?), (?, ?)`. */
export const from = (columns: number, textOf: (rows: string) => string): Statement => {
  const row = `(${repeated("?", columns)})`
  const texts = STATEMENT_ROWS.map((rows) => ({ text: textOf(repeated(row, rows)), size: rows * columns }))

  return (sql, values) => {
    let done = 0
    for (const { text, size } of texts) {
      for (; values.length - done >= size; done += size) sql.text(text, values.slice(done, done + size)).run()
    }
  }
}

/** Inserts rows into `table (column, column)`. `onConflict` is an optional clause after the values. */
export const insert = (into: string, columns: number, onConflict = ""): Statement =>
  from(columns, (rows) => `insert into ${into} values ${rows} ${onConflict}`)

/** Deletes rows by the values of their `key` columns. */
export const remove = (table: string, key: ReadonlyArray<string>): Statement =>
  from(key.length, (rows) => `delete from ${table} where (${key.join(", ")}) in (values ${rows})`)
