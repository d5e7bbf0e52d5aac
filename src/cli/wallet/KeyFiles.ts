/** `udg keys`: lists, exports, imports and encrypts the keys in the wallet's directory. */
import { basename, dirname, join } from "node:path"
import { FileSystem } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import * as Mnemonic from "../../client/Mnemonic.js"
import * as Address from "../../protocol/identity/Address.js"
import * as KeyFile from "../../storage/files/KeyFile.js"
import * as KeyStore from "../keys/KeyStore.js"
import * as Passphrase from "../keys/Passphrase.js"
import { fail } from "../keys/WalletFailure.js"
import * as Agreement from "../settings/Agreement.js"
import * as Command from "../settings/Command.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { wrongUsage } from "../settings/WrongUsage.js"
import * as Out from "../terminal/Out.js"
import * as Keys from "./Keys.js"
import * as Verb from "./Verb.js"

const KEY_FILE = /\.key$/

const list = Command.action({ json: Verb.json }, ({ json }) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const directory = dirname(KeyStore.defaultPath())
    const names = yield* Effect.orElseSucceed(files.readDirectory(directory), () => [])
    const found = yield* Effect.forEach(names.filter((name) => KEY_FILE.test(name)).sort(), (name) =>
      Effect.map(Effect.either(KeyStore.load(Option.some(join(directory, name)))), (key) => ({ name, key })),
    )
    const answer = found.map(({ name, key }) =>
      Either.match(key, {
        onLeft: ({ message }) => ({ file: join(directory, name), error: message }),
        onRight: ({ path, address, publicKey, isSealed }) => ({
          file: path,
          address,
          public_key: publicKey,
          is_encrypted: isSealed,
        }),
      }),
    )
    yield* Out.table(json, answer, () => ({
      none: `there are no keys in ${directory}; make one with udg keygen`,
      columns: [{ title: "KEY", cutAt: "end" }, { title: "ADDRESS ON TESTNETS" }, { title: "FILE" }],
      rows: found.map(({ name, key }) =>
        Either.match(key, {
          onLeft: () => [name, "", "cannot be read"],
          onRight: ({ address, isSealed }) => [
            basename(name, ".key"),
            Address.toBech32(address, "tudg"),
            isSealed ? "encrypted" : "plain text",
          ],
        }),
      ),
    }))
  }),
)

const ofOne = { key: Verb.key, passphraseFile: Verb.passphraseFile, json: Verb.json }

const exporting = Setting.group("Export (udg keys export)")

const out = exporting.optional(
  "--out FILE",
  "write the key to a new file in plain text, as nodes read it",
  Reader.newFile,
)

const words = exporting.flag("--words", "show the key as 24 words instead, to write down on paper")

const exportKey = Command.action({ out, words, ...ofOne }, (given) =>
  Effect.gen(function* () {
    if (Option.isSome(given.out) === given.words) {
      return yield* wrongUsage("choose a form: --out FILE writes the key in plain text, --words shows it as 24 words")
    }
    const { publicKey, unlock } = yield* KeyStore.load(given.key, given.passphraseFile)
    const key = yield* unlock
    if (Option.isSome(given.out)) {
      yield* Effect.mapError(KeyFile.create(given.out.value, key), ({ message }) => fail("key", message))
      return yield* Keys.show(given.json, given.out.value, publicKey)
    }
    const spoken = Mnemonic.of(key)
    yield* Out.lines(given.json, { words: spoken.join(" ") }, () => [["words", Mnemonic.lines(spoken)]])
  }),
)

const importing = Setting.group("Import (udg keys import)")

const from = importing.optional(
  "--from FILE",
  "a file with a key: encrypted, in plain text, or as 24 words",
  Reader.keyPath,
  "the words are asked for",
)

const importKey = Command.action({ from, ...ofOne }, (given) =>
  Effect.gen(function* () {
    const path = yield* KeyStore.newPath(given.key)
    const key = yield* Option.match(given.from, {
      onSome: (file) => Effect.flatMap(KeyStore.load(Option.some(file)), ({ unlock }) => unlock),
      onNone: () => Passphrase.askWords,
    })
    yield* KeyStore.create(path, key, yield* Passphrase.choose(given.passphraseFile))
    yield* Keys.show(given.json, path, key.publicKey)
  }),
)

const encrypt = Command.action(ofOne, (given) =>
  Effect.gen(function* () {
    const { path, publicKey, isSealed, unlock } = yield* KeyStore.load(given.key)
    if (isSealed) {
      return yield* fail("key", `${path} is encrypted; to change its passphrase: udg keys passphrase --key ${path}`)
    }
    yield* KeyStore.replaceSealed(path, yield* unlock, yield* Passphrase.choose(given.passphraseFile))
    yield* Keys.show(given.json, path, publicKey)
  }),
)

const yes = Setting.group("Decrypt (udg keys decrypt)").flag("--yes", "decrypt without asking first")

const decrypt = Command.action({ yes, ...ofOne }, (given) =>
  Effect.gen(function* () {
    const { path, publicKey, isSealed, unlock } = yield* KeyStore.load(given.key, given.passphraseFile)
    if (!isSealed) return yield* fail("key", `${path} is not encrypted`)
    const then = `${path} in plain text, where anyone who reads the file or a backup has the key`
    yield* Agreement.ask({
      question: `This stores ${then}.`,
      unsaid: `this would store ${then}; use --yes to confirm`,
      unlessAgreed: "nothing was changed",
      isSaid: given.yes,
    })
    yield* KeyStore.replaceInPlainText(path, yield* unlock)
    yield* Keys.show(given.json, path, publicKey)
  }),
)

const newPassphraseFile = Setting.group("Passphrase (udg keys passphrase)").optional(
  "--new-passphrase-file FILE",
  "file with the new passphrase",
  Reader.keyPath,
  "asked for",
)

const passphrase = Command.action({ newPassphraseFile, ...ofOne }, (given) =>
  Effect.gen(function* () {
    const { path, publicKey, isSealed, unlock } = yield* KeyStore.load(given.key, given.passphraseFile)
    if (!isSealed) return yield* fail("key", `${path} is not encrypted; run: udg keys encrypt --key ${path}`)
    const key = yield* unlock
    yield* KeyStore.replaceSealed(path, key, yield* Passphrase.chooseAnother(given.newPassphraseFile))
    yield* Keys.show(given.json, path, publicKey)
  }),
)

export const keys = Verb.withActions(
  {
    name: "keys",
    about: "lists, encrypts, exports and imports keys",
    examples: [
      ["all keys in ~/.udg", "udg keys list"],
      [
        "write a key down on paper, and restore it from there",
        "udg keys export --words; udg keys import --key restored.key",
      ],
      ["encrypt a validator's key where it is", "udg keys encrypt --key data/validator.key"],
      ["change its passphrase", "udg keys passphrase --key data/validator.key"],
      ["a copy in plain text", "udg keys export --key savings.key --out validator.key"],
    ],
    footer: [
      "Anyone who sees an exported key, or its words, can spend from the account. The words encode the key itself with the " +
        "word list of BIP-39: wallets of other networks derive other keys from them. encrypt, decrypt and passphrase replace " +
        "the file atomically: after a power cut it holds the old content or the new.",
    ],
  },
  new Map(Object.entries({ list, export: exportKey, import: importKey, encrypt, decrypt, passphrase })),
)
