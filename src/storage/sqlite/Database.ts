/**
 * One SQLite file with two connections: a writing one in its own thread, and a read-only one here, so that reads never
 * wait for a commit and this thread never waits for the disk. Every write is one atomic transaction.
 *
 * The client's `withTransaction` is not used: it turns a failing COMMIT into a defect, and in WAL mode a full disk
 * shows exactly there. No statement runs outside of `read` or `write`: one that merely borrows the connection could run
 * inside another caller's transaction and be rolled back with it.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import type { SqlError } from "@effect/sql"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Cause, Effect, Option, type Scope } from "effect"
import * as StorageError from "../files/StorageError.js"
import * as Column from "./Column.js"
import * as Connection from "./Connection.js"
// The client uses the same driver.
import "./Driver.js"
import * as Migration from "./Migration.js"
import * as Sql from "./Sql.js"
import type { WriterThread } from "./WriterThread.js"

type Statements<A> = (sql: Sql.Sql) => Effect.Effect<A, SqlError.SqlError>

/** A connection for one caller at a time, so that statements of two callers never share a transaction. */
interface Turns {
  readonly connection: Connection.Connection
  readonly lock: Effect.Semaphore
}

const turnsOf = (connection: Connection.Connection): Turns => ({ connection, lock: Effect.unsafeMakeSemaphore(1) })

export interface Database extends Migration.Migratable {
  readonly file: string
  /** The first row's value, if there is a row and it is not null. */
  readonly first: <A>(
    rowOf: (row: Column.Row) => A,
    text: string,
    ...values: ReadonlyArray<Connection.Value>
  ) => Effect.Effect<Option.Option<NonNullable<A>>, StorageError.StorageError>
  /** Atomic. Not interrupted once it has begun. */
  readonly write: <A>(statements: Statements<A>) => Effect.Effect<A, StorageError.StorageError>
  /** Like `write`, but returns once this and all earlier writes are on disk, whatever the durability. */
  readonly writeSynced: <A>(statements: Statements<A>) => Effect.Effect<A, StorageError.StorageError>
  /** Returns deleted rows' space to the disk by rewriting the whole file. */
  readonly compact: Effect.Effect<void, StorageError.StorageError>
}

/** When SQLite syncs writes to disk. */
export type Durability =
  /** Never. Survives only the process, for data that is not needed after a power cut. */
  | "none"
  /** At a checkpoint of the log. Survives any end of the process; a power cut can take the last commits. */
  | "process"
  /** At every commit. Survives a power cut. */
  | "power"

export interface Options {
  readonly file: string
  readonly durability: Durability
  /** For a new file; 4,096 by default. Commits write whole pages. */
  readonly pageBytes?: number
  readonly migrations: ReadonlyArray<Migration.Migration>
}

const MEMORY = ":memory:"

const execute = ({ connection, lock }: Turns, text: string): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(lock.withPermits(1)(connection.ask(text, [])))

/** Runs outside of the queue. */
const inTransaction = <A>(connection: Connection.Connection, begin: string, statements: Statements<A>) =>
  Effect.suspend(() => {
    connection.add(begin, [])
    return statements(Sql.over(connection))
  }).pipe(
    Effect.zipLeft(Effect.suspend(() => connection.ask("commit", []))),
    // After a full disk or a failed statement it is already rolled back, and SQLite refuses a second rollback.
    Effect.onError(() => Effect.ignore(connection.ask("rollback", []))),
  )

const addAll = (connection: Connection.Connection, pragmas: ReadonlyArray<string>): void => {
  for (const text of pragmas) connection.add(`pragma ${text}`, [])
}

const transaction =
  ({ connection, lock }: Turns, begin: string) =>
  <A>(statements: Statements<A>): Effect.Effect<A, SqlError.SqlError> =>
    inTransaction(connection, begin, statements).pipe(lock.withPermits(1), Effect.uninterruptible)

/** The smallest possible change, to an existing value: only a commit that changes something syncs the log. */
const TOUCH = `pragma application_id = ${Migration.APPLICATION_ID}`

/**
 * A commit in mode `full` syncs the whole log, unless it changed nothing. A checkpoint would not suffice: it syncs only
 * pages that it moves into the database, which are none while a reader still uses the file as of the previous
 * checkpoint. The mode is added to the statements without waiting, because a validator syncs in every round.
 */
const syncedTransaction =
  ({ connection, lock }: Turns) =>
  <A>(statements: Statements<A>): Effect.Effect<A, SqlError.SqlError> =>
    Effect.suspend(() => {
      addAll(connection, syncs("power"))
      return inTransaction(connection, "begin immediate", (sql) =>
        Effect.tap(statements(sql), () => Effect.sync(() => sql.text(TOUCH).run())),
      )
    }).pipe(
      // Sent with the next transaction.
      Effect.ensuring(Effect.sync(() => addAll(connection, syncs("process")))),
      lock.withPermits(1),
      Effect.uninterruptible,
    )

const failureOf = (file: string, cause: Cause.Cause<SqlError.SqlError>): Cause.Cause<StorageError.StorageError> =>
  Cause.flatMap(cause, (error) => Cause.fail(StorageError.fromSqlite(file, error.cause))).pipe((failures) => {
    const defect = Cause.squash(failures)
    return defect instanceof Column.UnexpectedValue
      ? Cause.fail(new StorageError.DatabaseDamaged({ file, finding: defect.message }))
      : failures
  })

const typed = <A, R>(file: string, effect: Effect.Effect<A, SqlError.SqlError, R>) =>
  Effect.catchAllCause(effect, (cause) => Effect.failCause(failureOf(file, cause)))

/**
 * The driver throws if the file cannot be opened. The client sets no journal mode, because it would lose the statement.
 */
const connect = (
  config: Omit<SqliteClient.SqliteClientConfig, "disableWAL">,
): Effect.Effect<Turns, StorageError.StorageError, Scope.Scope> =>
  SqliteClient.make({ ...config, disableWAL: true, prepareCacheSize: 1_000, prepareCacheTTL: "1000 days" }).pipe(
    Effect.flatMap(({ reserve }) => reserve),
    Effect.map((connection) => turnsOf(Connection.local(connection))),
    Effect.provide(Reactivity.layer),
    (connected) => typed(config.filename, connected),
    Effect.catchAllDefect((cause) => Effect.fail(StorageError.fromSqlite(config.filename, cause))),
  )

const set = ({ connection, lock }: Turns, pragmas: ReadonlyArray<string>) =>
  lock.withPermits(1)(Effect.forEach(pragmas, (text) => connection.ask(`pragma ${text}`, []), { discard: true }))

const PAGE_BYTES = 4_096
/** Log pages between two checkpoints: a busy commit has a few megabytes, and a checkpoint syncs twice. */
const CHECKPOINT_PAGES = 8_192
const WRITER_CACHE_KIB = 65_536
const READER_CACHE_KIB = 32_768

const MODES: { readonly [D in Durability]: string } = { none: "off", process: "normal", power: "full" }

/**
 * Explicit, because the driver is compiled with different defaults for WAL and for the first connection to a new file.
 */
const syncs = (durability: Durability): ReadonlyArray<string> => [
  `synchronous = ${MODES[durability]}`,
  // On macOS an ordinary fsync stops at the disk's cache.
  `fullfsync = ${durability === "power" ? "on" : "off"}`,
]

const writerPragmas = (durability: Durability): ReadonlyArray<string> => [
  ...syncs(durability),
  "checkpoint_fullfsync = on",
  `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
  `journal_size_limit = ${CHECKPOINT_PAGES * PAGE_BYTES * 2}`,
  `cache_size = -${WRITER_CACHE_KIB}`,
  "temp_store = memory",
]

const readerPragmas: ReadonlyArray<string> = [`cache_size = -${READER_CACHE_KIB}`, "temp_store = memory"]

/** `durability` applies to the writing connection. */
const make = (file: string, durability: Durability, writer: Turns, reader: Turns): Database => {
  const writeSynced: Database["writeSynced"] = (statements) => {
    const perform = durability === "process" ? syncedTransaction(writer) : transaction(writer, "begin immediate")
    return typed(file, perform(statements))
  }
  const select: Database["select"] = (rowOf, text, ...values) => {
    const rows = reader.lock.withPermits(1)(Effect.suspend(() => reader.connection.ask(text, values)))
    return typed(
      file,
      Effect.map(rows, (found) => found.map(rowOf)),
    )
  }
  const write: Database["write"] = (statements) => typed(file, transaction(writer, "begin immediate")(statements))
  return {
    file,
    select,
    first: (rowOf, text, ...values) =>
      Effect.map(select(rowOf, text, ...values), ([first]) => Option.fromNullable(first)),
    read: (statements) => typed(file, transaction(reader, "begin")(statements)),
    write,
    run: (statements) => write((sql) => Effect.sync(() => statements(sql))),
    writeSynced,
    compact: typed(file, execute(writer, "vacuum")),
  }
}

/** Opens a checked file, or creates it, and migrates it to the newest schema. */
export const open = (
  { file, durability, pageBytes = PAGE_BYTES, migrations }: Options,
  thread: WriterThread,
): Effect.Effect<Database, StorageError.StorageError, Scope.Scope> =>
  Effect.gen(function* () {
    const writer = turnsOf(yield* typed(file, thread.open(file, pageBytes)))
    yield* typed(file, set(writer, writerPragmas(durability)))
    // Else replacing a table would delete what refers to its rows. A transaction cannot change it.
    yield* typed(file, set(writer, ["foreign_keys = off"]))
    yield* Migration.run(make(file, durability, writer, writer), migrations)
    yield* typed(file, set(writer, ["foreign_keys = on"]))
    const reader = yield* connect({ filename: file, readonly: true })
    yield* typed(file, set(reader, readerPragmas))
    return make(file, durability, writer, reader)
  })

/** In memory only one connection sees the data, so reads and writes take turns. */
export const openInMemory = (
  migrations: ReadonlyArray<Migration.Migration>,
): Effect.Effect<Database, StorageError.StorageError, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* connect({ filename: MEMORY })
    const database = make("the database in memory", "power", connection, connection)
    yield* Migration.run(database, migrations)
    return database
  })

/**
 * Undoes a write that was cut off while the file was created, before it had a log. Read-only connections cannot do
 * that.
 */
export const rollBack = (file: string): Effect.Effect<void, StorageError.StorageError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* connect({ filename: file })
      yield* typed(file, execute(connection, "select name from sqlite_schema limit 1"))
    }),
  )

/** Copies a file, as of its last commit, to a new one. */
export const copy = (file: string, target: string): Effect.Effect<void, StorageError.StorageError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* connect({ filename: file, readonly: true })
      yield* typed(target, execute(connection, `vacuum into '${target.replaceAll("'", "''")}'`))
    }),
  )

/** Opens a file read-only. Closing it leaves the log alone, so its bytes do not change even if it is unusable. */
export const openToRead = (file: string): Effect.Effect<Database, StorageError.StorageError, Scope.Scope> =>
  Effect.map(connect({ filename: file, readonly: true }), (reader) => make(file, "power", reader, reader))
