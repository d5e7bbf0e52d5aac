/** Deletes old rows a few at a time, since nothing else is written meanwhile. */
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
  /** At most this many rows are looked at. */
  readonly limit: number
}

/**
 * For a table that keeps some old rows forever: rows looked at once need not be looked at again. `behind` looks at the
 * rows after a number and returns the number of the last one, null if there is none. Returns whether there may be more.
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
