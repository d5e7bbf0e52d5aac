/** A secret key in a file that only its owner can read. Errors name the file and its fault, never its content. */
import { platform } from "node:os"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Data, Effect, Option } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as AtomicFile from "./AtomicFile.js"

export class KeyFileError extends Data.TaggedError("KeyFileError")<{
  readonly path: string
  readonly reason: string
}> {
  override get message(): string {
    return `key file ${this.path}: ${this.reason}`
  }
}

const OWNER_ONLY = 0o600
const OTHERS = 0o077
/** A key, its newline and some slack; a longer file is no key, and is not read. */
const MAX_BYTES = 128
const HEX_DIGITS = `${2 * Keys.SEED_BYTES} hex characters`

const systemError = (path: string, verb: string) => (error: PlatformError) =>
  new KeyFileError({ path, reason: `cannot be ${verb}: ${AtomicFile.reasonOf(error)}` })

const fail = (path: string, reason: string) => Effect.fail(new KeyFileError({ path, reason }))

/** Windows has no such mode bits. */
const isOpenToOthers = (mode: number): boolean => platform() !== "win32" && (mode & OTHERS) !== 0

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0")

const requireFit = (path: string, info: FileSystem.File.Info) => {
  if (info.type !== "File") return fail(path, "not a regular file")
  return isOpenToOthers(info.mode)
    ? fail(path, `others may read it (mode ${octal(info.mode)}); run: chmod 600 ${path}`)
    : Effect.void
}

/** The content of a file that only its owner can read, if it is short enough. */
export const readOwn = (
  path: string,
  expected: string,
  maxBytes: number,
): Effect.Effect<string, KeyFileError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const unreadable = systemError(path, "read")
    const info = yield* Effect.mapError(fileSystem.stat(path), unreadable)
    yield* requireFit(path, info)
    if (info.size > maxBytes) return yield* fail(path, `${expected} expected, it holds more`)
    return yield* Effect.mapError(fileSystem.readFileString(path), unreadable)
  })

/** Reads the key from the text of the file at that path. */
export const parse = (path: string, text: string): Effect.Effect<Keys.SecretKey, KeyFileError> =>
  Option.match(Keys.SecretKey.fromHex(text.trim()), {
    onNone: () => fail(path, `${HEX_DIGITS} expected, something else found`),
    onSome: Effect.succeed,
  })

/** The key in the file. */
export const load = (path: string): Effect.Effect<Keys.SecretKey, KeyFileError, FileSystem.FileSystem> =>
  Effect.flatMap(readOwn(path, HEX_DIGITS, MAX_BYTES), (text) => parse(path, text))

/** Writes the key to a file that does not exist yet. */
export const create = (path: string, key: Keys.SecretKey): Effect.Effect<void, KeyFileError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const unwritable = systemError(path, "written")
    // The data directory is locked, so no other node creates the file in between; a key is never overwritten.
    if (yield* Effect.mapError(AtomicFile.isTaken(path), unwritable)) return yield* fail(path, "exists already")
    yield* Effect.mapError(AtomicFile.write(path, Binary.utf8(`${key.toSecretHex()}\n`), OWNER_ONLY), unwritable)
  })

/** The key in the file; if there is none, a fresh one, which is written to it. */
export const loadOrCreate = (path: string): Effect.Effect<Keys.SecretKey, KeyFileError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    if (yield* Effect.orElseSucceed(AtomicFile.isTaken(path), () => true)) return yield* load(path)
    const key = Keys.SecretKey.generate()
    yield* create(path, key)
    return key
  })
