/**
 * Many rows with few statements: a statement that takes 128 rows costs little more than one that takes a single row.
 * The texts are few and fixed, so that every one of them stays prepared.
 */
import type { Value } from "./Connection.js"
import type { Sql } from "./Sql.js"

/** Takes the values one row after the other; part of a transaction. */
export type Statement = (sql: Sql, values: ReadonlyArray<Value>) => void

const STATEMENT_ROWS = [128, 64, 32, 16, 8, 4, 2, 1]

const repeated = (text: string, times: number): string => Array<string>(times).fill(text).join(", ")

/** Whatever is to be done with rows given as `(?, ?), (?, ?)`. */
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

/** Rows for `table (column, column)`; `onConflict` is the clause behind the values, if any. */
export const insert = (into: string, columns: number, onConflict = ""): Statement =>
  from(columns, (rows) => `insert into ${into} values ${rows} ${onConflict}`)

/** Takes out the rows whose `key` columns have these values. */
export const remove = (table: string, key: ReadonlyArray<string>): Statement =>
  from(key.length, (rows) => `delete from ${table} where (${key.join(", ")}) in (values ${rows})`)
