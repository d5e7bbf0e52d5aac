/** A connection to an SQLite file, in this thread or another one. */
import type { SqlConnection, SqlError } from "@effect/sql"
import { Effect } from "effect"
import * as EventLoop from "../../turns/EventLoop.js"
import type { Row } from "./Column.js"

/** A column's value. Numbers beyond 32 bits travel as doubles and stay exact, because all are safe integers. */
export type Value = string | number | Uint8Array | null

export interface Connection {
  /**
   * Not an Effect, because a transaction can add thousands. Statements run with the next `ask`, which also reports
   * failures; nothing after a failed statement runs. The code that began the transaction rolls it back, unless that has
   * already happened.
   */
  readonly add: (text: string, values: ReadonlyArray<Value>) => void
  /** Returns rows once all earlier statements have run. */
  readonly ask: (text: string, values: ReadonlyArray<Value>) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
}

/** Each can cover many rows. */
const STATEMENTS_BETWEEN_TURNS = 8

/** A connection in this thread. Other fibers run between batches of statements. */
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
