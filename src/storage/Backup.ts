/**
 * Copies `udg.db` before a newer program migrates it, so that an upgrade can be reverted. The copy is complete or
 * missing: a kill leaves a part under another name, which the next start replaces. `signed.db` is never copied, because
 * a validator that restores it forgets what it has signed since.
 */
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as AtomicFile from "./files/AtomicFile.js"
import { DatabaseFailed, type StorageError } from "./files/StorageError.js"
import * as Database from "./sqlite/Database.js"
import * as Migration from "./sqlite/Migration.js"

const OWNER_ONLY = 0o600

export const fileOf = (file: string, version: number): string => `${file}.schema-${version}`

/**
 * `version` is the file's version, 0 for a new file. Does nothing if there is nothing to migrate or the copy exists.
 */
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
    // A copy that does not fit is removed again.
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
