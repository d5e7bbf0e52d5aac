/** `udg keygen` and `udg address`: the key file and its public part. */
import { Effect, Option } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as KeyStore from "../keys/KeyStore.js"
import * as Passphrase from "../keys/Passphrase.js"
import * as Reader from "../settings/Reader.js"
import * as Out from "../terminal/Out.js"
import * as Sheet from "../terminal/Sheet.js"
import * as Describe from "./Describe.js"
import * as Verb from "./Verb.js"

/** The public part of a key, with one address for each kind of network. */
export const show = (asJson: boolean, path: string, publicKey: Keys.PublicKey) => {
  const address = Address.fromPublicKey(publicKey)
  return Out.lines(asJson, { ...Describe.formsOf(address), public_key: publicKey, file: path }, () => [
    ...Describe.forms(address),
    ["public key", publicKey],
    ["file", Sheet.whole(path)],
  ])
}

const from = Verb.wallet.optional("--from FILE", "encrypt the key of this file instead of making one", Reader.keyPath)

export const keygen = Verb.make({
  name: "keygen",
  about: "makes a key and stores it in an encrypted file",
  settings: { key: Verb.key, from, passphraseFile: Verb.passphraseFile, json: Verb.json },
  examples: [
    ["a key in ~/.udg/wallet.key; asks for a passphrase", "udg keygen"],
    ["another one, elsewhere", "udg keygen --key savings.key"],
    ["the key of a validator, encrypted", "udg keygen --from data/validator.key --key validator-copy.key"],
  ],
  footer: [
    "Nobody can restore a lost file or passphrase, and without both the account is lost: make a copy of the file. An " +
      "existing file is never overwritten. In scripts, set UDG_PASSPHRASE.",
  ],
  run: (given) =>
    Effect.gen(function* () {
      const path = yield* KeyStore.newPath(given.key)
      const key = yield* Option.match(given.from, {
        onNone: () => Effect.sync(Keys.SecretKey.generate),
        onSome: (file) => Effect.flatMap(KeyStore.load(Option.some(file)), ({ unlock }) => unlock),
      })
      yield* KeyStore.create(path, key, yield* Passphrase.choose(given.passphraseFile))
      yield* show(given.json, path, key.publicKey)
    }),
})

export const address = Verb.make({
  name: "address",
  about: "shows the address and the public key of the wallet",
  settings: { key: Verb.key, json: Verb.json },
  examples: [["for you, and for a script", "udg address; udg address --json | jq -r .testnet"]],
  footer: ["It asks for no passphrase: the public key is stored unencrypted beside the secret one."],
  run: (given) => Effect.flatMap(Verb.keyOf(given), ({ path, publicKey }) => show(given.json, path, publicKey)),
})
