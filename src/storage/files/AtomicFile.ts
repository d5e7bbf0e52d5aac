/** A small file that exists whole or not at all: written under another name, synced, then renamed. */
import { dirname } from "node:path"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect } from "effect"

/** For messages that name the path themselves. */
export const reasonOf = (error: PlatformError): string => (error._tag === "SystemError" ? error.reason : "not a path")

/**
 * The text of a regular file of at most so many bytes, or why there is none. A pipe or a device could keep the reader waiting, or never
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

/** Until the directory is synced, a power cut may undo the rename. Windows has no such call, and no need for one. */
export const syncDirectory = (path: string): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* fileSystem.open(path, { flag: "r" })
    yield* directory.sync
  }).pipe(Effect.scoped, Effect.ignore)

/** Whether the name is taken, even by a dangling link: a write would replace the link. */
export const isTaken = (path: string): Effect.Effect<boolean, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const isLink = yield* Effect.isSuccess(fileSystem.readLink(path))
    return isLink || (yield* fileSystem.exists(path))
  })

/** Moves a whole, synced file into its place, which then holds either all of it or the previous content. */
export const place = (from: string, to: string): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    yield* fileSystem.rename(from, to)
    yield* syncDirectory(dirname(to))
  })

/** Writes the file piece by piece, replacing any file of that name. */
export const fill = <E>(
  path: string,
  mode: number,
  fill: (file: FileSystem.File) => Effect.Effect<void, E>,
): Effect.Effect<void, PlatformError | E, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const temporary = `${path}.new`
    // A crash may have left it.
    yield* fileSystem.remove(temporary, { force: true })
    yield* Effect.onError(synced(temporary, mode, fill), () => Effect.ignore(fileSystem.remove(temporary)))
    yield* place(temporary, path)
  })

/** Writes the file, replacing any file of that name. */
export const write = (
  path: string,
  content: Uint8Array,
  mode: number,
): Effect.Effect<void, PlatformError, FileSystem.FileSystem> => fill(path, mode, (file) => file.writeAll(content))
