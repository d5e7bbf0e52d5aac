/** Deletes old rows in small batches, because nothing else is written meanwhile. */
import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import type { StorageError } from "../files/StorageError.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"

export interface Request {
  /** Only rows of a lower round … */
  readonly beforeRound: Round
  /** … and of a lower epoch are deleted. */
  readonly beforeEpoch: Epoch
  /** The number of rows examined. */
  readonly limit: number
}

/**
 * For tables that keep some old rows forever: a row once examined is not examined again. `behind` examines rows after a
 * number and returns the last one's number, null if there is none. Returns whether there can be more.
 */
export const onwards = (
  database: Database,
  behind: (sql: Sql, number: number, request: Request) => Effect.Effect<number | null, SqlError.SqlError>,
): ((request: Request) => Effect.Effect<boolean, StorageError>) => {
  let lookedUpTo = 0
  return (request) =>
    Effect.map(
      database.write((sql) => behind(sql, lookedUpTo, request)),
      (last) => {
        lookedUpTo = last ?? lookedUpTo
        return last !== null
      },
    )
}
