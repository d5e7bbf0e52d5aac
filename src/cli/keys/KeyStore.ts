/** The wallet's key: an encrypted file, or a node's key file in plain text. */
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Option } from "effect"
import * as Mnemonic from "../../client/Mnemonic.js"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Address from "../../protocol/identity/Address.js"
import type * as Keys from "../../protocol/identity/Keys.js"
import * as SealedKey from "../../protocol/identity/SealedKey.js"
import * as AtomicFile from "../../storage/files/AtomicFile.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import * as KeySealing from "../../storage/files/KeySealing.js"
import type { KeyFileError } from "../../storage/files/OwnFile.js"
import type { Terminal } from "../terminal/Terminal.js"
import * as Passphrase from "./Passphrase.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

export interface KeyInFile {
  readonly path: string
  readonly publicKey: Keys.PublicKey
  readonly address: Address.Address
  /** Whether the file is encrypted. */
  readonly isSealed: boolean
  /** Asks for the passphrase if the file is encrypted. */
  readonly unlock: Effect.Effect<Keys.SecretKey, WalletFailure, Terminal | FileSystem.FileSystem>
}

export const defaultPath = (): string => join(homedir(), ".udg", "wallet.key")

const OWNER_ONLY = 0o600
const OWNER_ONLY_DIRECTORY = 0o700

const inFile = (
  path: string,
  publicKey: Keys.PublicKey,
  isSealed: boolean,
  unlock: KeyInFile["unlock"],
): KeyInFile => ({ path, publicKey, address: Address.fromPublicKey(publicKey), isSealed, unlock })

const inPlainText = (path: string, key: Keys.SecretKey): KeyInFile =>
  inFile(path, key.publicKey, false, Effect.succeed(key))

const asWalletFailure = ({ message }: KeyFileError): WalletFailure => fail("key", message)

const unlocked = (path: string, sealed: SealedKey.Sealed, file: Passphrase.File): KeyInFile["unlock"] =>
  Passphrase.unlock(path, file, (passphrase) =>
    Effect.flatMap(
      KeySealing.open(sealed, passphrase),
      Option.match({ onNone: () => fail("key", KeySealing.WRONG), onSome: (key) => Effect.succeed(key) }),
    ),
  )

/** Reads a node's key file or 24 words. */
const read = (path: string, text: string, passphrase: Passphrase.File) =>
  Option.match(Mnemonic.parse(text), {
    onSome: (key) => Effect.succeed(inPlainText(path, key)),
    onNone: () => {
      if (Mnemonic.isMeant(text) && !text.trimStart().startsWith("{")) {
        return fail("key", `key file ${path}: ${Mnemonic.complaint}`)
      }
      return Effect.mapBoth(KeyFile.parse(path, text), {
        onFailure: asWalletFailure,
        onSuccess: (content) =>
          content._tag === "Plain"
            ? inPlainText(path, content.key)
            : inFile(path, content.sealed.public_key, true, unlocked(path, content.sealed, passphrase)),
      })
    },
  })

/** The key in the file, still locked. */
export const load = (
  given: Option.Option<string>,
  passphrase: Passphrase.File = Option.none(),
): Effect.Effect<KeyInFile, WalletFailure, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const path = Option.getOrElse(given, defaultPath)
    const files = yield* FileSystem.FileSystem
    if (!(yield* Effect.orElseSucceed(files.exists(path), () => true))) {
      return yield* fail("key", `there is no key in ${path}; make one with udg keygen, or name its file with --key`)
    }
    const text = yield* Effect.mapError(KeyFile.text(path), asWalletFailure)
    return yield* read(path, text, passphrase)
  })

const isThere = (path: string) => fail("key", `${path} exists, and a key is never overwritten; choose another --key`)

/** The path of a new key file. Fails if the file exists. */
export const newPath = (given: Option.Option<string>): Effect.Effect<string, WalletFailure, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const path = Option.getOrElse(given, defaultPath)
    const files = yield* FileSystem.FileSystem
    if (yield* Effect.orElseSucceed(files.exists(path), () => true)) return yield* isThere(path)
    if (Option.isNone(given)) {
      const options = { recursive: true, mode: OWNER_ONLY_DIRECTORY }
      yield* Effect.mapError(files.makeDirectory(dirname(path), options), unwritable(path))
    }
    return path
  })

const isTaken = (error: PlatformError): boolean => error._tag === "SystemError" && error.reason === "AlreadyExists"

const unwritable =
  (path: string) =>
  (error: PlatformError): WalletFailure =>
    isTaken(error)
      ? isThere(path)
      : fail("key", `${path} cannot be written: ${error._tag === "SystemError" ? error.reason : "it is not a path"}`)

/** The text of the encrypted file. Decrypts it once before use, so that a faulty machine cannot cost the key. */
const sealed = (key: Keys.SecretKey, passphrase: string) =>
  Effect.gen(function* () {
    const content = yield* KeySealing.seal(key, passphrase)
    const opened = yield* KeySealing.open(content, passphrase)
    if (Option.isSome(opened)) return SealedKey.print(content)
    return yield* fail(
      "key",
      "the encrypted key could not be decrypted again; nothing was written; check this machine's hardware",
    )
  })

/** Writes and syncs a new file that only its owner can read. */
const written = (path: string, text: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const file = yield* files.open(path, { flag: "wx", mode: OWNER_ONLY })
    yield* Effect.onError(Effect.zipRight(file.writeAll(Binary.utf8(text)), file.sync), () =>
      Effect.ignore(files.remove(path)),
    )
  }).pipe(Effect.scoped)

/** Writes the encrypted key to a new file. Never replaces an existing one. */
export const create = (
  path: string,
  key: Keys.SecretKey,
  passphrase: string,
): Effect.Effect<void, WalletFailure, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const text = yield* sealed(key, passphrase)
    yield* Effect.mapError(written(path, text), unwritable(path))
    yield* AtomicFile.syncDirectory(dirname(path))
  })

/**
 * Gives the new file the old one's owner: root can encrypt the key of a service, which must still be able to read it.
 */
const handedOver = (from: string, to: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const [owner, own] = yield* Effect.all([files.stat(to), files.stat(from)])
    if (Option.isNone(owner.uid) || Option.isNone(owner.gid)) return
    if (Option.contains(own.uid, owner.uid.value)) return
    yield* files.chown(from, owner.uid.value, owner.gid.value)
  })

/**
 * Replaces a key file atomically: after a crash it holds the old content or the new one. Follows a symbolic link to the
 * file.
 */
const replace = (path: string, text: string): Effect.Effect<void, WalletFailure, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const target = yield* Effect.mapError(files.realPath(path), unwritable(path))
    const temporary = `${target}.new`
    const left = `${temporary} is left over from an interrupted change, and ${path} is intact; remove ${temporary} and repeat`
    yield* Effect.mapError(written(temporary, text), (error) =>
      isTaken(error) ? fail("key", left) : unwritable(path)(error),
    )
    yield* handedOver(temporary, target).pipe(
      Effect.zipRight(AtomicFile.place(temporary, target)),
      Effect.onError(() => Effect.ignore(files.remove(temporary))),
      Effect.mapError(unwritable(path)),
    )
  })

export const replaceSealed = (path: string, key: Keys.SecretKey, passphrase: string) =>
  Effect.flatMap(sealed(key, passphrase), (text) => replace(path, text))

export const replaceInPlainText = (path: string, key: Keys.SecretKey) => replace(path, `${key.toSecretHex()}\n`)
