/**
 * Statements as they are written down, for the connection of one transaction: `sql\`select … where id = ${id}\`.values`.
 * They go to the connection as they are; a client's would be put together anew, with a span and a context of its own, every
 * time, at a multiple of what SQLite takes.
 */
import type { SqlError } from "@effect/sql"
import { Data, type Effect } from "effect"
import type { Row } from "./Column.js"
import type { Connection, Value } from "./Connection.js"

/** A part of the statement itself, not a value. */
class Literal extends Data.Class<{ readonly text: string }> {}

export interface Statement {
  /** Its rows; waits until all before it is done. */
  readonly values: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
  /** Done at the latest with the next rows that are asked for, or with the transaction; what is wrong is told then. */
  readonly run: () => void
}

export interface Sql {
  (texts: TemplateStringsArray, ...parts: ReadonlyArray<Value | Literal>): Statement
  /** One that is put together. */
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
