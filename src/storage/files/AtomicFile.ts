/** Writes a small file atomically: under another name, synced, then renamed. */
import { dirname } from "node:path"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect } from "effect"

/** For messages that include the path themselves. */
export const reasonOf = (error: PlatformError): string => (error._tag === "SystemError" ? error.reason : "not a path")

/**
 * The text of a regular file up to a size, or why it cannot be read. A pipe or device could block the reader or never
 * end.
 */
export const readText = (path: string, maxBytes: number): Effect.Effect<string, string, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const { type, size } = yield* fileSystem.stat(path)
    if (type !== "File") return yield* Effect.fail("not a regular file")
    if (size > maxBytes) return yield* Effect.fail(`larger than ${maxBytes} bytes`)
    return yield* fileSystem.readFileString(path)
  }).pipe(Effect.mapError((error) => (typeof error === "string" ? error : reasonOf(error))))

const synced = <E>(path: string, mode: number, fill: (file: FileSystem.File) => Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const file = yield* fileSystem.open(path, { flag: "wx", mode })
    yield* fill(file)
    yield* file.sync
  }).pipe(Effect.scoped)

/** Until the directory is synced, a power cut can undo the rename. Windows neither has nor needs this call. */
export const syncDirectory = (path: string): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* fileSystem.open(path, { flag: "r" })
    yield* directory.sync
  }).pipe(Effect.scoped, Effect.ignore)

/** Whether the name is taken, also by a dangling link, which a write would replace. */
export const isTaken = (path: string): Effect.Effect<boolean, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const isLink = yield* Effect.isSuccess(fileSystem.readLink(path))
    return isLink || (yield* fileSystem.exists(path))
  })

/** Renames a complete, synced file to its final name, which then has the new content or the previous one. */
export const place = (from: string, to: string): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    yield* fileSystem.rename(from, to)
    yield* syncDirectory(dirname(to))
  })

/** Writes the file piece by piece, replacing an existing one. */
export const fill = <E>(
  path: string,
  mode: number,
  fill: (file: FileSystem.File) => Effect.Effect<void, E>,
): Effect.Effect<void, PlatformError | E, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const temporary = `${path}.new`
    // A crash can have left it.
    yield* fileSystem.remove(temporary, { force: true })
    yield* Effect.onError(synced(temporary, mode, fill), () => Effect.ignore(fileSystem.remove(temporary)))
    yield* place(temporary, path)
  })

/** Writes the file, replacing an existing one. */
export const write = (
  path: string,
  content: Uint8Array,
  mode: number,
): Effect.Effect<void, PlatformError, FileSystem.FileSystem> => fill(path, mode, (file) => file.writeAll(content))
