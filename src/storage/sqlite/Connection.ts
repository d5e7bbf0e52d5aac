/** A connection to an SQLite file, of this thread or another one. */
import type { SqlConnection, SqlError } from "@effect/sql"
import { Effect } from "effect"
import * as EventLoop from "../../turns/EventLoop.js"
import type { Row } from "./Column.js"

/** What a column can be given. Numbers beyond 32 bits travel as doubles and are stored exactly: all are safe integers. */
export type Value = string | number | Uint8Array | null

export interface Connection {
  /**
   * Plain code, for there may be thousands in a transaction. Done with the next rows that are asked for: what fails is told
   * there, and nothing behind it is done. Whoever began the transaction rolls it back; it may have been already.
   */
  readonly add: (text: string, values: ReadonlyArray<Value>) => void
  /** Its rows, when all before it is done. */
  readonly ask: (text: string, values: ReadonlyArray<Value>) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
}

/** Each may be of many rows. */
const STATEMENTS_BETWEEN_TURNS = 8

/** One of this thread, where others have to have their turn meanwhile. */
export const local = (connection: SqlConnection.Connection): Connection => {
  let added: Array<readonly [text: string, values: ReadonlyArray<Value>]> = []

  return {
    add: (text, values) => {
      added.push([text, values])
    },
    ask: (text, values) =>
      Effect.suspend(() => {
        const last = connection.executeValues(text, values)
        if (added.length === 0) return last
        const before = added
        added = []
        const all = Effect.gen(function* () {
          for (const [i, statement] of before.entries()) {
            yield* connection.executeValues(...statement)
            if ((i + 1) % STATEMENTS_BETWEEN_TURNS === 0) yield* EventLoop.turn
          }
        })
        return Effect.zipRight(all, last)
      }),
  }
}
