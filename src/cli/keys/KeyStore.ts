/** The key of the wallet: an encrypted file, or one of a node's own key files in plain text. */
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Option } from "effect"
import * as Mnemonic from "../../client/Mnemonic.js"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Address from "../../protocol/identity/Address.js"
import type * as Keys from "../../protocol/identity/Keys.js"
import * as AtomicFile from "../../storage/files/AtomicFile.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import type { Terminal } from "../terminal/Terminal.js"
import * as Passphrase from "./Passphrase.js"
import * as SealedKey from "./SealedKey.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

export interface KeyInFile {
  readonly path: string
  readonly publicKey: Keys.PublicKey
  readonly address: Address.Address
  /** The file is encrypted. */
  readonly isSealed: boolean
  /** Asks for the passphrase if it is. */
  readonly unlock: Effect.Effect<Keys.SecretKey, WalletFailure, Terminal>
}

export const defaultPath = (): string => join(homedir(), ".udg", "wallet.key")

const OWNER_ONLY = 0o600
const OWNER_ONLY_DIRECTORY = 0o700
const MAX_BYTES = 4_096

const inFile = (
  path: string,
  publicKey: Keys.PublicKey,
  isSealed: boolean,
  unlock: KeyInFile["unlock"],
): KeyInFile => ({ path, publicKey, address: Address.fromPublicKey(publicKey), isSealed, unlock })

const inPlainText = (path: string, key: Keys.SecretKey): KeyInFile =>
  inFile(path, key.publicKey, false, Effect.succeed(key))

const asWalletFailure = ({ message }: KeyFile.KeyFileError): WalletFailure => fail("key", message)

const read = (path: string, text: string) =>
  Option.match(SealedKey.parse(text), {
    onSome: (sealed) =>
      Effect.succeed(
        inFile(
          path,
          sealed.public_key,
          true,
          Passphrase.unlock(path, (passphrase) => SealedKey.open(sealed, passphrase)),
        ),
      ),
    onNone: () => {
      if (text.trimStart().startsWith("{")) {
        return fail("key", `key file ${path}: it is damaged, or not a key file of this program`)
      }
      return Option.match(Mnemonic.parse(text), {
        onSome: (key) => Effect.succeed(inPlainText(path, key)),
        onNone: () =>
          Mnemonic.isMeant(text)
            ? fail("key", `key file ${path}: ${Mnemonic.complaint}`)
            : Effect.mapBoth(KeyFile.parse(path, text), {
                onFailure: asWalletFailure,
                onSuccess: (key) => inPlainText(path, key),
              }),
      })
    },
  })

/** The key in the file, still locked. */
export const load = (given: Option.Option<string>): Effect.Effect<KeyInFile, WalletFailure, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const path = Option.getOrElse(given, defaultPath)
    const files = yield* FileSystem.FileSystem
    if (!(yield* Effect.orElseSucceed(files.exists(path), () => true))) {
      return yield* fail("key", `there is no key in ${path}; make one with udg keygen, or name its file with --key`)
    }
    const text = yield* Effect.mapError(KeyFile.readOwn(path, "a key", MAX_BYTES), asWalletFailure)
    return yield* read(path, text)
  })

const isThere = (path: string) => fail("key", `${path} exists, and a key is never overwritten; choose another --key`)

/** The path of a new key file; fails if it exists. */
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

const unwritable =
  (path: string) =>
  (error: PlatformError): WalletFailure =>
    error._tag === "SystemError" && error.reason === "AlreadyExists"
      ? isThere(path)
      : fail("key", `${path} cannot be written: ${error._tag === "SystemError" ? error.reason : "it is not a path"}`)

/** Writes the key, encrypted, to a new file; never replaces an existing one. */
export const create = (
  path: string,
  key: Keys.SecretKey,
  passphrase: string,
): Effect.Effect<void, WalletFailure, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const text = SealedKey.print(yield* SealedKey.seal(key, passphrase))
    const file = yield* files.open(path, { flag: "wx", mode: OWNER_ONLY })
    yield* Effect.onError(Effect.zipRight(file.writeAll(Binary.utf8(text)), file.sync), () =>
      Effect.ignore(files.remove(path)),
    )
    yield* AtomicFile.syncDirectory(dirname(path))
  }).pipe(Effect.scoped, Effect.mapError(unwritable(path)))
