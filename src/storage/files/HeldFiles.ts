/**
 * Whether the files that this process has opened are still in their directory. A file that is deleted, replaced, or on a volume
 * that was detached can still be written, but nobody can open it again: everything since is lost.
 */
import { FileSystem } from "@effect/platform"
import type { PlatformError, SystemErrorReason } from "@effect/platform/Error"
import { Effect, Option } from "effect"
import type { DataDirectory } from "./DataDirectory.js"

/** With the number of its device and its own, by which the file system tells files apart. */
export type HeldFiles = ReadonlyMap<string, string>

const HELD = ["lock", "database", "signed"] as const

/** Any other failure, as of a directory that this user may no longer enter, says nothing of the files. */
const GONE: ReadonlySet<SystemErrorReason> = new Set(["NotFound", "BadResource", "Unknown"])

const identityOf = (path: string): Effect.Effect<string, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const { dev, ino } = yield* (yield* FileSystem.FileSystem).stat(path)
    return `${dev}:${Option.getOrElse(ino, () => 0)}`
  })

/** As they are now. */
export const of = (directory: DataDirectory): Effect.Effect<HeldFiles, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const held = new Map<string, string>()
    for (const path of HELD.map((name) => directory.fileOf(name))) {
      held.set(path, yield* Effect.orElseSucceed(identityOf(path), () => ""))
    }
    return held
  })

/** What became of the first one that is no longer there; null if all are. */
export const lost = (held: HeldFiles): Effect.Effect<string | null, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    for (const [path, identity] of held) {
      const isGone = (error: PlatformError) => error._tag === "SystemError" && GONE.has(error.reason)
      const found = yield* Effect.catchAll(identityOf(path), (error) => Effect.succeed(isGone(error) ? null : identity))
      if (found === null) return `${path} is gone`
      if (found !== identity) return `${path} is another file than the one that was opened`
    }
    return null
  })
