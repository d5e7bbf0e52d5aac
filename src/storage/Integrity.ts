/** Whether a database can be used at all, found out without changing a byte of it. */
import { FileSystem } from "@effect/platform"
import { Effect, Option } from "effect"
import type * as Genesis from "../protocol/Genesis.js"
import type * as Hash from "../protocol/Hash.js"
import * as Column from "./Column.js"
import * as Database from "./Database.js"
import * as Meta from "./Meta.js"
import * as Migration from "./Migration.js"
import { DatabaseDamaged, NewerSchema, type OpenError, type StorageError } from "./StorageError.js"

/** A file that is not there, or was made and never written to, is a new one. */
const isNew = (file: string): Effect.Effect<boolean, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    fileSystem.stat(file).pipe(
      Effect.map(({ size }) => size === 0n),
      // What cannot be looked at for another reason is reported by whoever opens it.
      Effect.orElseSucceed(() => true),
    ),
  )

/** Fails for what another or a newer program wrote; says whether there is a schema at all. */
const requireKnown = (database: Database.Database, known: number): Effect.Effect<boolean, OpenError> =>
  Effect.gen(function* () {
    const { file } = database
    const { applicationId, version, isEmpty } = yield* Migration.versionOf(database)
    if (isEmpty) return false
    if (applicationId !== Migration.APPLICATION_ID) {
      return yield* new DatabaseDamaged({
        file,
        finding: "it is another program's database, or its first page is lost",
      })
    }
    if (version > known) return yield* new NewerSchema({ file, found: version, known })
    return true
  })

/**
 * SQLite's own check of every page: structure, order of keys, types of columns. What it cannot see is a changed value;
 * for those there are the supply recount and the state root.
 */
const requireSound = (database: Database.Database): Effect.Effect<void, StorageError> =>
  Effect.flatMap(
    database.read((sql) => sql`pragma quick_check(1)`.values),
    ([row = []]) => {
      const finding = Column.text(row, 0)
      return finding === "ok"
        ? Effect.void
        : Effect.fail(new DatabaseDamaged({ file: database.file, finding: finding.replaceAll("\n", " ") }))
    },
  )

/** Fails if the file cannot be used: newer schema, other network, damage. */
export const check = (
  file: string,
  known: number,
  genesis: Hash.Hash,
): Effect.Effect<void, OpenError, FileSystem.FileSystem> =>
  Effect.unlessEffect(
    Database.inspect<void, OpenError>(file, (database) =>
      Effect.gen(function* () {
        if (!(yield* requireKnown(database, known))) return
        yield* Meta.requireGenesis(database, genesis)
        yield* requireSound(database)
      }),
    ),
    isNew(file),
  ).pipe(Effect.asVoid, Effect.withSpan("integrity", { attributes: { file } }))

/** The genesis a file was made for; none for a new one. */
export const genesisOf = (
  file: string,
  known: number,
): Effect.Effect<Option.Option<Genesis.Genesis>, OpenError, FileSystem.FileSystem> =>
  Effect.unlessEffect(
    Database.inspect<Option.Option<Genesis.Genesis>, OpenError>(file, (database) =>
      Effect.flatMap(requireKnown(database, known), (hasSchema) =>
        hasSchema ? Meta.genesis(database) : Effect.succeedNone,
      ),
    ),
    isNew(file),
  ).pipe(Effect.map(Option.flatten))
