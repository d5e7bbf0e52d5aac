/**
 * A PostgreSQL database. Every write is a transaction of its own and happens whole or not at all. An error names the place
 * of the database and never its password.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import type { SqlError } from "@effect/sql"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Option, Redacted, type Scope, Stream } from "effect"
import { type ArchiveError, DatabaseFailed } from "./ArchiveError.js"

type Single = string | number | boolean | Uint8Array | null

export type Value = Single | ReadonlyArray<Single>

export type Row = ReadonlyArray<unknown>

const LONGEST_READ_MS = 5_000

/** The address of a database, without what is secret. */
export const placeOf = (url: Redacted.Redacted): string => {
  const { hostname, port, pathname, searchParams } = new URL(Redacted.value(url))
  const host = searchParams.get("host") ?? (hostname || "localhost")
  return `${host}${port === "" ? "" : `:${port}`}${pathname}`
}

export interface Statements {
  readonly rows: (text: string, values?: ReadonlyArray<Value>) => Effect.Effect<ReadonlyArray<Row>, DatabaseFailed>
}

export interface Postgres extends Statements {
  readonly place: string
  /** All or nothing. If it fails while it is being committed, it may have happened. */
  readonly write: <A>(statements: (sql: Statements) => Effect.Effect<A, ArchiveError>) => Effect.Effect<A, ArchiveError>
  /** Only reads, and all see the same commit; the server itself gives up a statement that takes too long. */
  readonly snapshot: Postgres["write"]
  /** What is said on a channel from now on; fails when the connection does. */
  readonly listen: (channel: string) => Stream.Stream<string, DatabaseFailed>
}

const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  const inner: unknown = error.cause
  return inner instanceof Error ? reasonOf(inner) : error.message.replaceAll(/\s+/g, " ")
}

const isSqlError = (error: unknown): error is SqlError.SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

export const open = (
  url: Redacted.Redacted,
  maxConnections = 4,
): Effect.Effect<Postgres, DatabaseFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const place = placeOf(url)
    const failed = (error: unknown) => new DatabaseFailed({ place, reason: reasonOf(error) })
    const client = yield* PgClient.make({ url, applicationName: "udg", maxConnections }).pipe(
      Effect.provide(Reactivity.layer),
      Effect.mapError(failed),
    )
    const rows: Statements["rows"] = (text, values = []) =>
      Effect.mapError(client.unsafe(text, [...values]).values, failed)
    const write: Postgres["write"] = (statements) =>
      client.withTransaction(statements({ rows })).pipe(
        Effect.catchTag("SqlError", failed),
        // A failing COMMIT is a defect of this client, not a failure.
        Effect.catchSomeDefect((defect) => (isSqlError(defect) ? Option.some(failed(defect)) : Option.none())),
      )
    return {
      place,
      rows,
      write,
      snapshot: (statements) =>
        write((sql) =>
          Effect.all([
            sql.rows("set transaction isolation level repeatable read read only"),
            sql.rows(`set local statement_timeout = ${LONGEST_READ_MS}`),
          ]).pipe(Effect.zipRight(statements(sql))),
        ),
      listen: (channel) => Stream.mapError(client.listen(channel), failed),
    }
  })
