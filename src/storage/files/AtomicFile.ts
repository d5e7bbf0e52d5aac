/** A small file that is there whole or not at all: written beside its place, synced, then moved into it. */
import { dirname } from "node:path"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect } from "effect"

const synced = <E>(path: string, mode: number, fill: (file: FileSystem.File) => Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const file = yield* fileSystem.open(path, { flag: "wx", mode })
    yield* fill(file)
    yield* file.sync
  }).pipe(Effect.scoped)

/** Until the directory is synced, a power cut may take the new name with it. Windows has no such call, and no need. */
export const syncDirectory = (path: string): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* fileSystem.open(path, { flag: "r" })
    yield* directory.sync
  }).pipe(Effect.scoped, Effect.ignore)

/** Whether something has this name, be it a link that leads nowhere: what is written would take the link's place. */
export const isTaken = (path: string): Effect.Effect<boolean, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const isLink = yield* Effect.isSuccess(fileSystem.readLink(path))
    return isLink || (yield* fileSystem.exists(path))
  })

/** Gives a file that is whole and synced its place, which is then taken by all of it or by what was there before. */
export const place = (from: string, to: string): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    yield* fileSystem.rename(from, to)
    yield* syncDirectory(dirname(to))
  })

/** Writes the file piece by piece, in place of whatever has its name. */
export const fill = <E>(
  path: string,
  mode: number,
  fill: (file: FileSystem.File) => Effect.Effect<void, E>,
): Effect.Effect<void, PlatformError | E, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const temporary = `${path}.new`
    // What a crash may have left of an earlier attempt.
    yield* fileSystem.remove(temporary, { force: true })
    yield* Effect.onError(synced(temporary, mode, fill), () => Effect.ignore(fileSystem.remove(temporary)))
    yield* place(temporary, path)
  })

/** Writes the file, in place of whatever has its name. */
export const write = (
  path: string,
  content: Uint8Array,
  mode: number,
): Effect.Effect<void, PlatformError, FileSystem.FileSystem> => fill(path, mode, (file) => file.writeAll(content))
