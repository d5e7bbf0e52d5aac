/**
 * A PostgreSQL database. Every write is a transaction of its own and happens whole or not at all. An error names the place
 * of the database and never its password.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import type { SqlError } from "@effect/sql"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, Effect, Option, Redacted, type Scope, Stream } from "effect"
import * as Pg from "pg"
import { type ArchiveError, DatabaseFailed } from "./ArchiveError.js"
import * as DatabaseProblem from "./DatabaseProblem.js"

type Single = string | number | boolean | Uint8Array | null

export type Value = Single | ReadonlyArray<Single>

export type Row = ReadonlyArray<unknown>

/** As the server lists its connections. */
const NAME = "udg"

/** Also how long one may wait for a connection to be made. */
const CONNECT = Duration.seconds(5)
/**
 * Whoever gives up a statement needs another connection to cancel it. Without one of these, he would wait for those that he could
 * make free, and whoever waits for a connection of the pool cannot be told to stop.
 */
const TO_CANCEL = 2
/** A connection that has fallen silent is asked whether it is still there. */
const SILENT_MS = 10_000

/** The address of a database, without what is secret. */
const placeOf = (url: Redacted.Redacted): string => {
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
  /** Only reads, and all see the same commit; the server itself gives up a statement that takes longer. */
  readonly snapshot: <A>(
    statements: (sql: Statements) => Effect.Effect<A, ArchiveError>,
    longestMs: number,
  ) => Effect.Effect<A, ArchiveError>
  /** What is said on a channel from now on; fails when the connection does. */
  readonly listen: (channel: string) => Stream.Stream<string, DatabaseFailed>
}

const isSqlError = (error: unknown): error is SqlError.SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

/** A connection of its own: the listening one of `@effect/sql-pg` does not say when it is lost. */
const listening = <E>(
  url: Redacted.Redacted,
  channel: string,
  failed: (error: unknown) => E,
): Stream.Stream<string, E> =>
  Stream.asyncPush((emit) =>
    Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          const client = new Pg.Client({
            connectionString: Redacted.value(url),
            application_name: NAME,
            keepAlive: true,
            keepAliveInitialDelayMillis: SILENT_MS,
          })
          client.on("error", (error) => emit.fail(failed(error)))
          client.on("end", () => emit.fail(failed(new Error("the connection ended"))))
          client.on("notification", ({ payload }) => emit.single(payload ?? ""))
          await client.connect()
          await client.query(`listen ${Pg.escapeIdentifier(channel)}`)
          return client
        },
        catch: failed,
      }),
      (client) => Effect.ignore(Effect.tryPromise(() => client.end())),
    ),
  )

/** Whether a statement is running. The driver has a public property for this, but reading it prints a warning. */
const isBusy = (client: Pg.PoolClient): boolean =>
  "_activeQuery" in client && client._activeQuery !== null && client._activeQuery !== undefined

/**
 * A fiber that is interrupted while the server is silent cannot cancel its statement, and returns the connection with the statement
 * still running. The next statement would wait behind it, so the connection is closed.
 */
const poolOf = (url: Redacted.Redacted, max: number): Pg.Pool => {
  const pool = new Pg.Pool({
    connectionString: Redacted.value(url),
    application_name: NAME,
    max,
    connectionTimeoutMillis: Duration.toMillis(CONNECT),
  })
  // A statement on a connection that fails reports the failure itself.
  pool.on("error", () => {})
  pool.on("release", (_, client) => {
    if (isBusy(client) && client instanceof Pg.Client) void client.end().catch(() => {})
  })
  return pool
}

/** It has answered once. */
const connected = (url: Redacted.Redacted, max: number, failed: (error: unknown) => DatabaseFailed) =>
  Effect.acquireRelease(
    Effect.sync(() => poolOf(url, max)),
    (pool) => Effect.ignore(Effect.timeoutOption(Effect.interruptible(Effect.promise(() => pool.end())), "1 second")),
  ).pipe(
    Effect.tap((pool) =>
      Effect.tryPromise({ try: () => pool.query("select 1"), catch: failed }).pipe(
        Effect.timeoutFail({ duration: CONNECT, onTimeout: () => failed(new Error("Connection timed out")) }),
      ),
    ),
  )

/** Who waits for one of the connections may be told to stop. */
export const open = (url: Redacted.Redacted, connections = 4): Effect.Effect<Postgres, DatabaseFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const place = placeOf(url)
    const failed = (error: unknown) => new DatabaseFailed({ place, ...DatabaseProblem.of(error) })
    const pool = yield* connected(url, connections + TO_CANCEL, failed)
    const client = yield* PgClient.fromPool({ acquire: Effect.succeed(pool), applicationName: NAME }).pipe(
      Effect.provide(Reactivity.layer),
      Effect.mapError(failed),
    )
    const places = (yield* Effect.makeSemaphore(connections)).withPermits(1)
    const rows: Statements["rows"] = (text, values = []) =>
      Effect.mapError(client.unsafe(text, [...values]).values, failed)
    const write: Postgres["write"] = (statements) =>
      places(client.withTransaction(statements({ rows }))).pipe(
        Effect.catchTag("SqlError", failed),
        // A failing COMMIT is a defect of this client, not a failure.
        Effect.catchSomeDefect((defect) => (isSqlError(defect) ? Option.some(failed(defect)) : Option.none())),
      )
    return {
      place,
      rows: (text, values) => places(rows(text, values)),
      write,
      snapshot: (statements, longestMs) =>
        write((sql) =>
          Effect.all([
            sql.rows("set transaction isolation level repeatable read read only"),
            sql.rows(`set local statement_timeout = ${longestMs}`),
          ]).pipe(Effect.zipRight(statements(sql))),
        ),
      listen: (channel) => listening(url, channel, failed),
    }
  })
