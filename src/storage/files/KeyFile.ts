/** A secret key in a file that only its owner can read, in plain text or encrypted under a passphrase. */
import type { FileSystem } from "@effect/platform"
import { Effect, Option, Redacted } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as SealedKey from "../../protocol/identity/SealedKey.js"
import * as AtomicFile from "./AtomicFile.js"
import { KeyPassphrase } from "./KeyPassphrase.js"
import * as KeySealing from "./KeySealing.js"
import * as OwnFile from "./OwnFile.js"

type Failing<A> = Effect.Effect<A, OwnFile.KeyFileError, FileSystem.FileSystem>

export type Content =
  | { readonly _tag: "Plain"; readonly key: Keys.SecretKey }
  | { readonly _tag: "Sealed"; readonly sealed: SealedKey.Sealed }

const OWNER_ONLY = 0o600
/** An encrypted key with indentation and some slack. A longer file is not read. */
const MAX_BYTES = 4_096
const HEX_DIGITS = `${2 * Keys.SEED_BYTES} hex characters`

const named = (path: string): OwnFile.Named => ({ what: "key file", path })

/** The file's text, if only its owner can read it. */
export const text = (path: string): Failing<string> => OwnFile.read(named(path), "a key", MAX_BYTES)

/** Parses the text of the file at that path. */
export const parse = (path: string, text: string): Effect.Effect<Content, OwnFile.KeyFileError> => {
  const sealed = SealedKey.parse(text)
  if (Option.isSome(sealed)) return Effect.succeed({ _tag: "Sealed", sealed: sealed.value })
  if (text.trimStart().startsWith("{")) {
    return OwnFile.fail(named(path), "it is damaged, or not a key file of this program")
  }
  return Option.match(Keys.SecretKey.fromHex(text.trim()), {
    onNone: () => OwnFile.fail(named(path), `expected ${HEX_DIGITS}, found something else`),
    onSome: (key) => Effect.succeed({ _tag: "Plain", key } as const),
  })
}

/** The file's content, still locked. */
export const read = (path: string): Failing<Content> => Effect.flatMap(text(path), (held) => parse(path, held))

/** Decrypts a sealed key with a passphrase. */
export const open = (path: string, sealed: SealedKey.Sealed, passphrase: string) =>
  Effect.flatMap(
    KeySealing.open(sealed, passphrase),
    Option.match({
      onNone: () => OwnFile.fail(named(path), KeySealing.WRONG),
      onSome: (key) => Effect.succeed(key),
    }),
  )

/** The key in a file's content. */
export const unlock = (path: string, content: Content): Effect.Effect<Keys.SecretKey, OwnFile.KeyFileError> =>
  content._tag === "Plain"
    ? Effect.succeed(content.key)
    : Effect.flatMap(KeyPassphrase, (source) =>
        source.unlock(path, (passphrase) => open(path, content.sealed, passphrase)),
      )

/** Whether the passphrase at hand opens the content. Nobody is asked for one. */
export const opens = (path: string, content: Content): Effect.Effect<boolean> =>
  content._tag === "Plain"
    ? Effect.succeed(true)
    : KeyPassphrase.pipe(
        Effect.flatMap(({ held }) => Effect.flatten(held)),
        Effect.flatMap((passphrase) => open(path, content.sealed, Redacted.value(passphrase))),
        Effect.isSuccess,
      )

/** The key in the file. */
export const load = (path: string): Failing<Keys.SecretKey> =>
  Effect.flatMap(read(path), (content) => unlock(path, content))

/** A new file's text: the key, encrypted if there is a passphrase for new keys. */
const printed = (path: string, key: Keys.SecretKey) =>
  Effect.gen(function* () {
    const passphrase = Option.getOrUndefined((yield* KeyPassphrase).ofNewKeys)
    if (passphrase === undefined) return `${key.toSecretHex()}\n`
    if (!SealedKey.isLongEnough(Redacted.value(passphrase))) {
      const shortest = SealedKey.SHORTEST_PASSPHRASE
      return yield* OwnFile.fail(named(path), `was not created: its passphrase needs at least ${shortest} characters`)
    }
    return SealedKey.print(yield* KeySealing.seal(key, Redacted.value(passphrase)))
  })

/** Writes the key to a new file. */
export const create = (path: string, key: Keys.SecretKey): Failing<void> =>
  Effect.gen(function* () {
    const unwritable = OwnFile.systemError(named(path), "written")
    // The data directory is locked, so no other node creates the file meanwhile. A key is never overwritten.
    if (yield* Effect.mapError(AtomicFile.isTaken(path), unwritable)) {
      return yield* OwnFile.fail(named(path), "exists already")
    }
    const content = Binary.utf8(yield* printed(path, key))
    yield* Effect.mapError(AtomicFile.write(path, content, OWNER_ONLY), unwritable)
  })

/** The key in the file; if there is no file, a new key, which is written to it. */
export const loadOrCreate = (path: string): Failing<Keys.SecretKey> =>
  Effect.gen(function* () {
    if (yield* Effect.orElseSucceed(AtomicFile.isTaken(path), () => true)) return yield* load(path)
    const key = Keys.SecretKey.generate()
    yield* create(path, key)
    return key
  })
