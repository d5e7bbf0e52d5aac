/**
 * The schema's history. A database stores its last migration's number in `user_version`, which changes in the same
 * transaction, so that it always has exactly one version.
 */
import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import type { StorageError } from "../files/StorageError.js"
import * as Column from "./Column.js"
import type * as Connection from "./Connection.js"
import type * as Sql from "./Sql.js"

export interface Migration {
  /** Consecutive from 1, never renumbered, and never changed after a release. */
  readonly version: number
  /** Statements, each ending in a semicolon at the end of a line. */
  readonly statements: string
}

/** What a database can do before it has tables. */
export interface Migratable {
  /** One statement's rows: a consistent view without a transaction, at a fraction of its cost. */
  readonly select: <A>(
    rowOf: (row: Column.Row) => A,
    text: string,
    ...values: ReadonlyArray<Connection.Value>
  ) => Effect.Effect<ReadonlyArray<A>, StorageError>
  /** A consistent view: nothing is committed between two statements of one reading. */
  readonly read: <A>(
    statements: (sql: Sql.Sql) => Effect.Effect<A, SqlError.SqlError>,
  ) => Effect.Effect<A, StorageError>
  /** Runs statements that return no rows. */
  readonly run: (statements: (sql: Sql.Sql) => void) => Effect.Effect<void, StorageError>
}

/** "udgl" in ASCII identifies the database for `file` and for us. */
export const APPLICATION_ID = 0x7564676c

export interface Version {
  readonly applicationId: number
  readonly version: number
  readonly isEmpty: boolean
}

/** The application and version stored in the file. */
export const versionOf = (database: Migratable): Effect.Effect<Version, StorageError> =>
  database.read((sql) =>
    Effect.gen(function* () {
      const [application = []] = yield* sql`pragma application_id`.values
      const [version = []] = yield* sql`pragma user_version`.values
      const tables = yield* sql`select name from sqlite_schema limit 1`.values
      return {
        applicationId: Column.integer(application, 0),
        version: Column.integer(version, 0),
        isEmpty: tables.length === 0,
      }
    }),
  )

/** The version after all migrations. */
export const newest = (migrations: ReadonlyArray<Migration>): number => migrations.at(-1)?.version ?? 0

const statementsOf = ({ statements }: Migration): ReadonlyArray<string> =>
  statements.split(/;\n/).filter((text) => text.trim() !== "")

/** Tables with their columns, and indexes, one per line. */
export const shapeOf = (database: Migratable): Effect.Effect<ReadonlyArray<string>, StorageError> =>
  database.select(
    (row) => row.filter((part) => part !== null).join(" "),
    `select object.type, object.name, info.name, info.type from sqlite_schema object
      left join pragma_table_xinfo(object.name) info
      where object.type in ('table', 'index') and object.name not like 'sqlite_%'`,
  )

/** Runs all missing migrations, each in one transaction. */
export const run = (database: Migratable, migrations: ReadonlyArray<Migration>): Effect.Effect<void, StorageError> =>
  Effect.gen(function* () {
    const { version } = yield* versionOf(database)
    for (const migration of migrations) {
      if (migration.version <= version) continue
      yield* database.run((sql) => {
        for (const text of statementsOf(migration)) sql.text(text).run()
        sql.text(`pragma application_id = ${APPLICATION_ID}`).run()
        sql.text(`pragma user_version = ${migration.version}`).run()
      })
    }
  })
