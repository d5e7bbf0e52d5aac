/** Checks whether a database is usable without changing a byte of it. */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Option, type Scope } from "effect"
import type * as Genesis from "../protocol/epoch/Genesis.js"
import type { Address } from "../protocol/identity/Address.js"
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
import * as Epochs from "./tables/Epochs.js"
import * as Meta from "./tables/Meta.js"
import * as Records from "./tables/Records.js"

/** `quick` checks every page. `full` also compares every index with its table, which takes several times as long. */
export type Thoroughness = "quick" | "full"

/** The rollback journal of a write in progress, used until there is a write-ahead log. */
const journalOf = (file: string): string => `${file}-journal`

const unusable = (file: string, error: PlatformError): DatabaseFailed =>
  new DatabaseFailed({
    file,
    reason: "this user may not do both",
    code: error._tag === "SystemError" ? error.reason : error._tag,
  })

/**
 * Checked before opening, because SQLite creates side files with the database's mode, and they keep it when it is
 * corrected.
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

/** A file is new if it is missing, or was created and never written to. */
export const isNew = (file: string): Effect.Effect<boolean, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    fileSystem.stat(file).pipe(
      Effect.map(({ size }) => size === 0n),
      // Other reasons are reported when the file is opened.
      Effect.orElseSucceed(() => true),
    ),
  )

const damaged = ({ file }: Database.Database, finding: string) => Effect.fail(new DatabaseDamaged({ file, finding }))

const hasTable = (database: Database.Database, table: string) =>
  Effect.map(Migration.shapeOf(database), (shape) => shape.some((line) => line.startsWith(`table ${table} `)))

/** Fails if a table, column or index of the migrations up to this version is missing. */
const requireShape = (database: Database.Database, migrations: ReadonlyArray<Migration.Migration>) =>
  Effect.gen(function* () {
    const found = new Set(yield* Migration.shapeOf(database))
    const made = yield* Effect.scoped(Effect.flatMap(Database.openInMemory(migrations), Migration.shapeOf))
    const missing = made.find((line) => !found.has(line))
    if (missing !== undefined) return yield* damaged(database, `its schema has no ${missing}`)
  })

/** Fails for another or a newer program's database. Returns the schema's version, 0 if it has none. */
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
      return yield* damaged(database, "it is another program's database, or its first page is lost")
    }
    if (version > known) return yield* new NewerSchema({ file, found: version, known })
    if (version < 1) return yield* damaged(database, "the version of its schema is lost")
    yield* requireShape(
      database,
      migrations.filter((migration) => migration.version <= version),
    )
    return version
  })

/** SQLite's own check of every page. It does not detect changed values; the supply count and the state root do. */
const requireSound = (database: Database.Database, thoroughness: Thoroughness): Effect.Effect<void, StorageError> =>
  thoroughness === "full"
    ? requireOk(database, "integrity_check(1)")
    : Effect.zipRight(requireOk(database, "quick_check(1)"), requireIndexes(database))

const requireOk = (database: Database.Database, check: string): Effect.Effect<void, StorageError> =>
  Effect.flatMap(
    database.select((row) => Column.text(row, 0), `pragma ${check}`),
    ([finding = "no answer"]) => (finding === "ok" ? Effect.void : damaged(database, finding)),
  )

/**
 * A node resumes from data that it reads through indexes, and silently misses a row that is not in its index. These
 * tables are small compared with the transactions, whose indexes only `full` checks.
 */
const INDEXED = ["vertices", "commits", "checkpoints", "own_vertices"]

const requireIndexes = (database: Database.Database): Effect.Effect<void, StorageError> =>
  Effect.gen(function* () {
    for (const table of INDEXED) {
      if (yield* hasTable(database, table)) yield* requireOk(database, `integrity_check(${table})`)
    }
  })

/** Fails if the table exists and the query finds a row. */
const requireNone = (
  database: Database.Database,
  table: string,
  query: string,
  findingOf: (row: number) => string,
): Effect.Effect<void, StorageError> =>
  Effect.gen(function* () {
    if (!(yield* hasTable(database, table))) return
    const found = yield* database.first((row) => Column.integer(row, 0), query)
    if (Option.isSome(found)) yield* damaged(database, findingOf(found.value))
  })

const WITHOUT_TRANSACTIONS = `
  select round from vertices v join vertex_bytes b on b.vertex_id = v.id
  where transactions_at is not null
    and not exists (select 1 from vertex_transactions t where t.vertex_id = v.id)
    and transactions_size <> (select ifnull(sum(length(p.bytes)), 0) from transaction_packs p
      where p.last_sequence between v.first_sequence and v.last_sequence)
  order by v.id limit 1`

/**
 * SQLite's check does not notice a lost page of vertex bytes that no other page refers to. Later that would look like a
 * commit that no vertices decide, which is a different fault.
 */
const requireBytes = (database: Database.Database): Effect.Effect<void, StorageError> =>
  Effect.zipRight(
    requireNone(
      database,
      "vertex_bytes",
      `select round from vertices v where not exists (select 1 from vertex_bytes b where b.vertex_id = v.id)
        order by id limit 1`,
      (round) => `the bytes of a vertex of round ${round} are missing`,
    ),
    requireNone(
      database,
      "transaction_packs",
      WITHOUT_TRANSACTIONS,
      (round) => `the transactions of a vertex of round ${round} are missing`,
    ),
  )

/** Commits of the running epoch with fewer vertices than they state, and vertices of a commit that does not exist. */
const MISPLACED = `
  select commit_index from commits c where epoch = (select max(epoch) from openings)
    and vertex_count <> (select count(*) from vertices v where v.commit_index = c.commit_index)
  union all
  select commit_index from vertices v where epoch = (select max(epoch) from openings) and commit_index is not null
    and not exists (select 1 from commits c where c.commit_index = v.commit_index and c.epoch = v.epoch)
  limit 1`

/**
 * Otherwise the next commit would find a vertex marked as ordered that no commit ordered, and the node would end with a
 * bug.
 */
const requirePlaces = (database: Database.Database): Effect.Effect<void, StorageError> =>
  requireNone(database, "openings", MISPLACED, (commit) => `commit ${commit} lacks vertices that are recorded for it`)

/** Undoes a first write that a kill cut off, which a read-only connection cannot do. */
const makeReadable = (file: string): Effect.Effect<void, StorageError, FileSystem.FileSystem> =>
  Effect.zipRight(requireAccess(file), Effect.unlessEffect(Database.rollBack(file), isNew(journalOf(file))))

/** Runs `use` on an existing file. */
const looked = <A>(file: string, use: (database: Database.Database) => Effect.Effect<A, OpenError>) =>
  Effect.zipRight(
    makeReadable(file),
    Effect.unlessEffect(Effect.scoped(Effect.flatMap(Database.openToRead(file), use)), isNew(file)),
  )

/** Fails if the database is unusable: newer schema, other network or damage. Returns its schema's version. */
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

/** Fails if the file is unusable. Returns its schema's version, 0 for a new file. */
export const check = (
  file: string,
  migrations: ReadonlyArray<Migration.Migration>,
  genesis: Hash.Hash,
): Effect.Effect<number, OpenError, FileSystem.FileSystem> =>
  looked(file, (database) => requireUsable(database, migrations, genesis, "quick")).pipe(
    Effect.map(Option.getOrElse(() => 0)),
    Effect.withSpan("integrity", { attributes: { file } }),
  )

/** Opens a database read-only after a full check. Fails for an older schema. */
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

/** The genesis for which the file was created; none for a new file. */
export const genesisOf = (
  file: string,
  migrations: ReadonlyArray<Migration.Migration>,
): Effect.Effect<Option.Option<Genesis.Genesis>, OpenError, FileSystem.FileSystem> =>
  looked(file, (database) =>
    Effect.flatMap(requireKnown(database, migrations), (version) =>
      version > 0 ? Meta.genesis(database) : Effect.succeedNone,
    ),
  ).pipe(Effect.map(Option.flatten))

/**
 * The key under which a validator has a seat in the running epoch; none in a new file or one of an older schema. `held`
 * is any of its keys.
 */
export const seatKeyOf = (
  file: string,
  migrations: ReadonlyArray<Migration.Migration>,
  held: Address,
): Effect.Effect<Option.Option<Address>, OpenError, FileSystem.FileSystem> =>
  looked(file, (database) =>
    Effect.gen(function* () {
      const version = yield* requireKnown(database, migrations)
      const [running] = version < Migration.newest(migrations) ? [] : yield* Epochs.make(database).kept
      if (running === undefined) return Option.none()
      const accountOf = Records.make(database).accountOf
      const account = yield* accountOf(held)
      const members = running.record.members.map(({ address }) => address)
      return yield* Effect.findFirst(members, (key) => Effect.map(accountOf(key), (other) => other === account))
    }),
  ).pipe(Effect.map(Option.flatten))
