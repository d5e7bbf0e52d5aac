/** Upgrades an archive's database to the newest schema: each migration in its own transaction, in order. */
import { Effect } from "effect"
import { type ArchiveError, NewerArchive, OtherHistory, OutdatedArchive } from "./ArchiveError.js"
import type * as Postgres from "./Postgres.js"
import { migrations } from "./Schema.js"

/** Two archives that start at once take turns. */
const LOCK = 7_563_367

const VERSIONS = `create table if not exists schema_versions (version integer not null primary key, at timestamptz not null)`

const versionOf = ({ rows }: Postgres.Statements) =>
  Effect.map(rows("select coalesce(max(version), 0) from schema_versions"), ([row]) => Number(row?.[0] ?? 0))

/** For a program that only reads: requires the schema that this program knows. */
export const require = (database: Postgres.Postgres): Effect.Effect<void, ArchiveError> =>
  Effect.gen(function* () {
    const known = migrations.length
    const [row] = yield* database.rows("select to_regclass('schema_versions') is null")
    if (row?.[0] === true)
      return yield* new OtherHistory({ place: database.place, finding: "is empty; start udg archive with it first" })
    const version = yield* versionOf(database)
    if (version > known) return yield* new NewerArchive({ place: database.place, version, known })
    if (version < known)
      return yield* new OtherHistory({
        place: database.place,
        finding: `has schema version ${version}, but this program reads ${known}; start this version of udg archive first`,
      })
  })

export const run = (database: Postgres.Postgres): Effect.Effect<void, ArchiveError> =>
  Effect.forEach(
    [...migrations, null],
    (migration) =>
      database.write<void>((sql) =>
        Effect.gen(function* () {
          yield* sql.rows("select pg_advisory_xact_lock($1)", [LOCK])
          yield* sql.rows(VERSIONS)
          const version = yield* versionOf(sql)
          if (migration === null) {
            const known = migrations.length
            return version > known ? yield* new NewerArchive({ place: database.place, version, known }) : undefined
          }
          if (version >= migration.version) return
          if (migration.needsEmpty && (yield* sql.rows("select 1 from position")).length > 0)
            return yield* new OutdatedArchive({ place: database.place, version, known: migrations.length })
          // One statement at a time, as the server requires for statements with values.
          for (const statement of migration.statements.split(/;\s*\n/).filter((text) => text.trim() !== ""))
            yield* sql.rows(statement)
          yield* sql.rows("insert into schema_versions values ($1, now())", [migration.version])
        }),
      ),
    { discard: true },
  )
