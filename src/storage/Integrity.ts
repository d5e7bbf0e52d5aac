/** Whether a database can be used at all, found out without changing a byte of it. */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Option, type Scope } from "effect"
import type * as Genesis from "../protocol/epoch/Genesis.js"
import type * as Hash from "../protocol/identity/Hash.js"
import {
  DatabaseDamaged,
  DatabaseFailed,
  NewerSchema,
  OlderSchema,
  type OpenError,
  type StorageError,
} from "./files/StorageError.js"
import * as Column from "./sqlite/Column.js"
import * as Database from "./sqlite/Database.js"
import * as Migration from "./sqlite/Migration.js"
import * as Meta from "./tables/Meta.js"

/** `quick` looks at every page; `full` also compares every index with its table, which takes a few times as long. */
export type Thoroughness = "quick" | "full"

/** What a write in progress would be undone with, while there is no log. */
const journalOf = (file: string): string => `${file}-journal`

const unusable = (file: string, error: PlatformError): DatabaseFailed =>
  new DatabaseFailed({
    file,
    reason: "this user may not do both",
    code: error._tag === "SystemError" ? error.reason : error._tag,
  })

/**
 * Looked at before anything is opened: what SQLite puts beside a file has the mode of the file, and would still stand in
 * the way when that is put right.
 */
const requireAccess = (file: string): Effect.Effect<void, DatabaseFailed, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    Effect.forEach(
      [file, `${file}-wal`, `${file}-shm`, journalOf(file)],
      (each) =>
        fileSystem.access(each, { readable: true, writable: true }).pipe(
          Effect.catchIf(
            (error) => error._tag === "SystemError" && error.reason === "NotFound",
            () => Effect.void,
          ),
          Effect.mapError((error) => unusable(each, error)),
        ),
      { discard: true },
    ),
  )

/** A file that is not there, or was made and never written to, is a new one. */
export const isNew = (file: string): Effect.Effect<boolean, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    fileSystem.stat(file).pipe(
      Effect.map(({ size }) => size === 0n),
      // What cannot be looked at for another reason is reported by whoever opens it.
      Effect.orElseSucceed(() => true),
    ),
  )

/** Fails where a table, a column or an index is not there that the migrations up to this version make. */
const requireShape = (database: Database.Database, migrations: ReadonlyArray<Migration.Migration>) =>
  Effect.gen(function* () {
    const found = new Set(yield* Migration.shapeOf(database))
    const made = yield* Effect.scoped(Effect.flatMap(Database.openInMemory(migrations), Migration.shapeOf))
    const missing = made.find((line) => !found.has(line))
    if (missing !== undefined)
      return yield* new DatabaseDamaged({ file: database.file, finding: `its schema has no ${missing}` })
  })

/** Fails for what another or a newer program wrote; gives the schema's version, 0 where there is none at all. */
const requireKnown = (
  database: Database.Database,
  migrations: ReadonlyArray<Migration.Migration>,
): Effect.Effect<number, OpenError> =>
  Effect.gen(function* () {
    const { file } = database
    const { applicationId, version, isEmpty } = yield* Migration.versionOf(database)
    const known = Migration.newest(migrations)
    if (isEmpty) return 0
    if (applicationId !== Migration.APPLICATION_ID) {
      return yield* new DatabaseDamaged({
        file,
        finding: "it is another program's database, or its first page is lost",
      })
    }
    if (version > known) return yield* new NewerSchema({ file, found: version, known })
    if (version < 1) return yield* new DatabaseDamaged({ file, finding: "the version of its schema is lost" })
    yield* requireShape(
      database,
      migrations.filter((migration) => migration.version <= version),
    )
    return version
  })

/**
 * SQLite's own check of every page: structure, order of keys, types of columns. What it cannot see is a changed value;
 * for those there are the supply recount and the state root.
 */
const requireSound = (database: Database.Database, thoroughness: Thoroughness): Effect.Effect<void, StorageError> =>
  thoroughness === "full"
    ? requireOk(database, "integrity_check(1)")
    : Effect.zipRight(requireOk(database, "quick_check(1)"), requireIndexes(database))

const requireOk = (database: Database.Database, check: string): Effect.Effect<void, StorageError> =>
  Effect.flatMap(
    database.read((sql) => sql`pragma ${sql.literal(check)}`.values),
    ([row = []]) => {
      const finding = Column.text(row, 0)
      return finding === "ok"
        ? Effect.void
        : Effect.fail(new DatabaseDamaged({ file: database.file, finding: finding.replaceAll("\n", " ") }))
    },
  )

/**
 * What the node goes on from is read through indexes: a row that its index does not know is missing without a word. These
 * tables are small beside the transactions, whose indexes only `full` looks at.
 */
const INDEXED = ["vertices", "commits", "checkpoints", "own_vertices"]

const requireIndexes = (database: Database.Database): Effect.Effect<void, StorageError> =>
  Effect.gen(function* () {
    const shape = yield* Migration.shapeOf(database)
    for (const table of INDEXED) {
      if (shape.some((line) => line.startsWith(`table ${table} `)))
        yield* requireOk(database, `integrity_check(${table})`)
    }
  })

/**
 * Structure alone does not tell that a page of vertices' bytes is gone, if the pages that led to it do not lead there any
 * more. Later that would look like a commit that nothing decides, which is another kind of trouble.
 */
const requireBytes = (database: Database.Database): Effect.Effect<void, StorageError> =>
  Effect.gen(function* () {
    if (!(yield* Migration.shapeOf(database)).some((line) => line.includes("vertex_bytes"))) return
    const [lost] = yield* database.select(
      (row) => Column.integer(row, 0),
      `select round from vertices v where not exists (select 1 from vertex_bytes b where b.vertex_id = v.id)
        order by id limit 1`,
    )
    if (lost !== undefined) {
      const finding = `the bytes of a vertex of round ${lost} are missing`
      return yield* new DatabaseDamaged({ file: database.file, finding })
    }
  })

/** A commit of the running epoch that does not have as many vertices as it says, or a vertex of no such commit. */
const MISPLACED = `
  select commit_index from commits c where epoch = (select max(epoch) from openings)
    and vertex_count <> (select count(*) from vertices v where v.commit_index = c.commit_index)
  union all
  select commit_index from vertices v where epoch = (select max(epoch) from openings) and commit_index is not null
    and not exists (select 1 from commits c where c.commit_index = v.commit_index and c.epoch = v.epoch)
  limit 1`

/** Otherwise it shows when the next commit finds a vertex ordered that nothing has ordered, and ends the node as a bug. */
const requirePlaces = (database: Database.Database): Effect.Effect<void, StorageError> =>
  Effect.gen(function* () {
    if (!(yield* Migration.shapeOf(database)).some((line) => line.startsWith("table openings "))) return
    const [misplaced] = yield* database.select((row) => Column.integer(row, 0), MISPLACED)
    if (misplaced !== undefined) {
      const finding = `commit ${misplaced} does not have the vertices that are recorded of it`
      return yield* new DatabaseDamaged({ file: database.file, finding })
    }
  })

/** Only what a kill has cut off in the first write is undone; a connection that reads could not do it. */
const makeReadable = (file: string): Effect.Effect<void, StorageError, FileSystem.FileSystem> =>
  Effect.zipRight(requireAccess(file), Effect.unlessEffect(Database.rollBack(file), isNew(journalOf(file))))

/** What `use` finds in a file that is there. */
const looked = <A>(file: string, use: (database: Database.Database) => Effect.Effect<A, OpenError>) =>
  Effect.zipRight(
    makeReadable(file),
    Effect.unlessEffect(Effect.scoped(Effect.flatMap(Database.openToRead(file), use)), isNew(file)),
  )

/** Fails if the database cannot be used: newer schema, other network, damage. Gives its schema's version. */
const requireUsable = (
  database: Database.Database,
  migrations: ReadonlyArray<Migration.Migration>,
  genesis: Hash.Hash,
  thoroughness: Thoroughness,
): Effect.Effect<number, OpenError> =>
  Effect.gen(function* () {
    const version = yield* requireKnown(database, migrations)
    if (version === 0) return version
    yield* Meta.requireGenesis(database, genesis)
    yield* requireSound(database, thoroughness)
    yield* requireBytes(database)
    yield* requirePlaces(database)
    return version
  })

/** Fails if the file cannot be used; a new one can. */
export const check = (
  file: string,
  migrations: ReadonlyArray<Migration.Migration>,
  genesis: Hash.Hash,
): Effect.Effect<void, OpenError, FileSystem.FileSystem> =>
  looked(file, (database) => requireUsable(database, migrations, genesis, "quick")).pipe(
    Effect.asVoid,
    Effect.withSpan("integrity", { attributes: { file } }),
  )

/** A database to look at, checked in full. One that has not been brought to the newest schema cannot be read by it. */
export const openChecked = (
  file: string,
  migrations: ReadonlyArray<Migration.Migration>,
  genesis: Hash.Hash,
): Effect.Effect<Database.Database, OpenError | OlderSchema, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    yield* makeReadable(file)
    const database = yield* Database.openToRead(file)
    const found = yield* requireUsable(database, migrations, genesis, "full")
    const known = Migration.newest(migrations)
    return found < known ? yield* new OlderSchema({ file, found, known }) : database
  }).pipe(Effect.withSpan("integrity", { attributes: { file } }))

/** The genesis a file was made for; none for a new one. */
export const genesisOf = (
  file: string,
  migrations: ReadonlyArray<Migration.Migration>,
): Effect.Effect<Option.Option<Genesis.Genesis>, OpenError, FileSystem.FileSystem> =>
  looked(file, (database) =>
    Effect.flatMap(requireKnown(database, migrations), (version) =>
      version > 0 ? Meta.genesis(database) : Effect.succeedNone,
    ),
  ).pipe(Effect.map(Option.flatten))
