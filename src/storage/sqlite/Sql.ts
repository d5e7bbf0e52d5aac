/**
 * Statements as written in the source, for the connection of one transaction: `sql\`select … where id =
 * ${id}\`.values`. They go to the connection unchanged; a client would rebuild each statement every time, with a span
 * and a context of its own, which takes several times as long as SQLite itself.
 */
import type { SqlError } from "@effect/sql"
import { Data, type Effect } from "effect"
import type { Row } from "./Column.js"
import type { Connection, Value } from "./Connection.js"

/** A part of the statement's text, not a value. */
class Literal extends Data.Class<{ readonly text: string }> {}

export interface Statement {
  /** Its rows; waits for all statements before it. */
  readonly values: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
  /** Executed with the next statement that returns rows, or the transaction, which then reports a failure. */
  readonly run: () => void
}

export interface Sql {
  (texts: TemplateStringsArray, ...parts: ReadonlyArray<Value | Literal>): Statement
  /** A statement with a computed text. */
  readonly text: (text: string, values?: ReadonlyArray<Value>) => Statement
  readonly literal: (text: string) => Literal
}

export const over = (connection: Connection): Sql => {
  const text = (statement: string, values: ReadonlyArray<Value> = []): Statement => ({
    get values() {
      return connection.ask(statement, values)
    },
    run: () => connection.add(statement, values),
  })

  const tagged = (texts: TemplateStringsArray, ...parts: ReadonlyArray<Value | Literal>): Statement => {
    const values: Array<Value> = []
    let statement = texts[0] ?? ""
    for (const [i, part] of parts.entries()) {
      if (part instanceof Literal) statement += part.text
      else {
        statement += "?"
        values.push(part)
      }
      statement += texts[i + 1] ?? ""
    }
    return text(statement, values)
  }

  return Object.assign(tagged, { text, literal: (part: string) => new Literal({ text: part }) })
}
