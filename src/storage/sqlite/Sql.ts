/**
 * Statements as written in the source, on the connection of one transaction: `sql\`select … where id = ${id}\`.values`.
 * They reach the connection unchanged; the client would rebuild each statement with a span and a context, which takes
 * several times as long as SQLite itself.
 */
import type { SqlError } from "@effect/sql"
import type { Effect } from "effect"
import type { Row } from "./Column.js"
import type { Connection, Value } from "./Connection.js"

export interface Statement {
  /** Returns rows, after all earlier statements. */
  readonly values: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
  /** Runs with the next statement that returns rows, or with the transaction's end, which then reports a failure. */
  readonly run: () => void
}

export interface Sql {
  (texts: TemplateStringsArray, ...values: ReadonlyArray<Value>): Statement
  /** A statement with a computed text. */
  readonly text: (text: string, values?: ReadonlyArray<Value>) => Statement
}

export const over = (connection: Connection): Sql => {
  const text = (statement: string, values: ReadonlyArray<Value> = []): Statement => ({
    get values() {
      return connection.ask(statement, values)
    },
    run: () => connection.add(statement, values),
  })
  const tagged = (texts: TemplateStringsArray, ...values: ReadonlyArray<Value>) => text(texts.join("?"), values)
  return Object.assign(tagged, { text })
}
