/** A file with a secret that only its owner can read. Errors name the file and the fault, never the content. */
import { platform } from "node:os"
import { geteuid } from "node:process"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Data, Effect, Option } from "effect"
import * as AtomicFile from "./AtomicFile.js"

export type What = "key file" | "passphrase file"

export class KeyFileError extends Data.TaggedError("KeyFileError")<{
  readonly what: What
  readonly path: string
  readonly reason: string
}> {
  override get message(): string {
    return `${this.what} ${this.path}: ${this.reason}`
  }
}

export interface Named {
  readonly what: What
  readonly path: string
}

export const fail = (named: Named, reason: string): KeyFileError => new KeyFileError({ ...named, reason })

export const systemError =
  (named: Named, verb: string) =>
  (error: PlatformError): KeyFileError =>
    fail(named, `cannot be ${verb}: ${AtomicFile.reasonOf(error)}`)

const ROOT = 0
const OTHERS = 0o077
const GROUP_READS = 0o040

/**
 * Root gives secrets to services through the file's group: systemd for credentials (an access list shows as the group),
 * Kubernetes for secrets. Members of that group were authorized by root.
 */
const isHandedByRoot = ({ uid, mode }: FileSystem.File.Info): boolean =>
  Option.contains(uid, ROOT) && geteuid?.() !== ROOT && (mode & OTHERS & ~GROUP_READS) === 0

/** Windows has no such mode bits. */
const isOpenToOthers = (info: FileSystem.File.Info): boolean =>
  platform() !== "win32" && (info.mode & OTHERS) !== 0 && !isHandedByRoot(info)

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0")

const requireFit = (named: Named, info: FileSystem.File.Info) => {
  if (info.type !== "File") return fail(named, "not a regular file")
  return isOpenToOthers(info)
    ? fail(named, `others may read it (mode ${octal(info.mode)}); run: chmod 600 ${named.path}`)
    : Effect.void
}

/** The content of a file that only its owner can read, up to a size. */
export const read = (
  named: Named,
  expected: string,
  maxBytes: number,
): Effect.Effect<string, KeyFileError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const unreadable = systemError(named, "read")
    const info = yield* Effect.mapError(fileSystem.stat(named.path), unreadable)
    yield* requireFit(named, info)
    if (info.size > maxBytes) return yield* fail(named, `expected ${expected}, found more`)
    return yield* Effect.mapError(fileSystem.readFileString(named.path), unreadable)
  })
