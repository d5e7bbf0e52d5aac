/**
 * A copy of `udg.db` beside it before a newer program migrates it, for going back. It is whole or not there: a kill in the middle
 * leaves a part under another name, which the next start replaces. There is none of `signed.db`: a validator that restores one
 * forgets what it has signed since.
 */
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as AtomicFile from "./files/AtomicFile.js"
import { DatabaseFailed, type StorageError } from "./files/StorageError.js"
import * as Database from "./sqlite/Database.js"
import * as Migration from "./sqlite/Migration.js"

const OWNER_ONLY = 0o600

export const fileOf = (file: string, version: number): string => `${file}.schema-${version}`

/** `version` is that of the file, 0 for a new one. Does nothing if nothing is migrated, or if the copy is there. */
export const beforeMigration = (
  file: string,
  version: number,
  migrations: ReadonlyArray<Migration.Migration>,
): Effect.Effect<void, StorageError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    if (version === 0 || version === Migration.newest(migrations)) return
    const files = yield* FileSystem.FileSystem
    const target = fileOf(file, version)
    if (yield* files.exists(target)) return
    const unfinished = `${target}.new`
    yield* files.remove(unfinished, { force: true })
    // What it takes if it does not fit goes away again.
    yield* Effect.onError(Database.copy(file, unfinished), () => Effect.ignore(files.remove(unfinished)))
    yield* files.chmod(unfinished, OWNER_ONLY)
    yield* Effect.scoped(Effect.flatMap(files.open(unfinished, { flag: "r+" }), (opened) => opened.sync))
    yield* AtomicFile.place(unfinished, target)
  }).pipe(
    Effect.catchTags({
      SystemError: ({ message, reason }) =>
        new DatabaseFailed({ file: `${file}.schema-${version}`, code: reason, reason: message }),
      BadArgument: ({ message }) =>
        new DatabaseFailed({ file: `${file}.schema-${version}`, code: "BadArgument", reason: message }),
    }),
  )
