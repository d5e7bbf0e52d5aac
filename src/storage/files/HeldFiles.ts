/**
 * Detects that files opened by this process have left their directory. A deleted or replaced file, or one on a detached
 * volume, can still be written but never opened again, so everything since is lost.
 */
import { FileSystem } from "@effect/platform"
import type { PlatformError, SystemErrorReason } from "@effect/platform/Error"
import { Effect, Option } from "effect"
import type { DataDirectory, FILES } from "./DataDirectory.js"

/** By name, with device and inode number, which identify a file. */
export type HeldFiles = ReadonlyMap<string, string>

/** Other failures, such as a directory that this user can no longer enter, say nothing about the files. */
const GONE: ReadonlySet<SystemErrorReason> = new Set(["NotFound", "BadResource", "Unknown"])

const identityOf = (path: string): Effect.Effect<string, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const { dev, ino } = yield* (yield* FileSystem.FileSystem).stat(path)
    return `${dev}:${Option.getOrElse(ino, () => 0)}`
  })

/** The files as they are now. */
export const of = (
  directory: DataDirectory,
  names: ReadonlyArray<keyof typeof FILES>,
): Effect.Effect<HeldFiles, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const held = new Map<string, string>()
    for (const path of names.map((name) => directory.fileOf(name))) {
      held.set(path, yield* Effect.orElseSucceed(identityOf(path), () => ""))
    }
    return held
  })

/** What happened to the first missing one; null if none is missing. */
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

const LOOK_EVERY = "1 second"

/**
 * Looks every second, and ends with what happened. Waits for a second look, so that health requests still see the
 * finding, and one faulty reading ends nothing. `looked` gets every result.
 */
export const watch = (
  held: HeldFiles,
  looked: (lost: string | null) => Effect.Effect<void> = () => Effect.void,
): Effect.Effect<string, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    for (let wasLost = false; ; ) {
      const finding = yield* lost(held)
      yield* looked(finding)
      if (finding !== null && wasLost) return finding
      wasLost = finding !== null
      yield* Effect.sleep(LOOK_EVERY)
    }
  })
