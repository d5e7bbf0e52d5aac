/**
 * A PostgreSQL database. Every write is an atomic transaction of its own. Errors name the database's place and never
 * its password.
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

/** As shown in the server's list of connections. */
const NAME = "udg"

/** Also limits the wait for a new connection. */
const CONNECT = Duration.seconds(5)
/**
 * Cancelling a statement needs another connection. Without spare ones, a caller giving up would wait for the very
 * connections it could free, and a wait for a pooled connection cannot be interrupted.
 */
const TO_CANCEL = 2
/** A silent connection is probed after this time. */
const SILENT_MS = 10_000

/** The address of a database, without secrets. */
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
  /** All or nothing. If it fails during commit, it may have happened. */
  readonly write: <A>(statements: (sql: Statements) => Effect.Effect<A, ArchiveError>) => Effect.Effect<A, ArchiveError>
  /** Only reads, all at the same commit. The server aborts a statement that takes longer. */
  readonly snapshot: <A>(
    statements: (sql: Statements) => Effect.Effect<A, ArchiveError>,
    longestMs: number,
  ) => Effect.Effect<A, ArchiveError>
  /** Notifications on a channel from now on; fails when the connection does. */
  readonly listen: (channel: string) => Stream.Stream<string, DatabaseFailed>
}

const isSqlError = (error: unknown): error is SqlError.SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

/** Has its own connection: the listening one of `@effect/sql-pg` does not report when it is lost. */
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

/** Whether a statement is running. The driver's public property for this prints a warning when read. */
const isBusy = (client: Pg.PoolClient): boolean =>
  "_activeQuery" in client && client._activeQuery !== null && client._activeQuery !== undefined

/**
 * A fiber interrupted while the server is silent cannot cancel its statement and returns the connection with the
 * statement running. The next statement would wait behind it, so the connection is closed.
 */
const poolOf = (url: Redacted.Redacted, max: number): Pg.Pool => {
  const pool = new Pg.Pool({
    connectionString: Redacted.value(url),
    application_name: NAME,
    max,
    connectionTimeoutMillis: Duration.toMillis(CONNECT),
  })
  // A statement on a failing connection reports the failure itself.
  pool.on("error", () => {})
  pool.on("release", (_, client) => {
    if (isBusy(client) && client instanceof Pg.Client) void client.end().catch(() => {})
  })
  return pool
}

/** A pool that has answered once. */
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

/** Waiting for one of the connections is interruptible. */
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
