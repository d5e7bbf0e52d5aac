/** `udg sign` and `udg verify`: signed text. Needs no node. */
import { Effect, Option } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Message from "../../protocol/identity/Message.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import { fail } from "../keys/WalletFailure.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { wrongUsage } from "../settings/WrongUsage.js"
import * as Out from "../terminal/Out.js"
import * as Sheet from "../terminal/Sheet.js"
import * as Account from "./Account.js"
import * as Describe from "./Describe.js"
import * as Verb from "./Verb.js"

const text = Setting.argument("TEXT", "the text, exactly as it is signed", Reader.text)

export const sign = Verb.make({
  name: "sign",
  about: "signs a text",
  settings: { text, key: Verb.key, json: Verb.json },
  examples: [["prove that an account is yours", "udg sign 'Hello Bob, 22 November'"]],
  footer: [
    "A signed text is not a transaction and moves no coins. It is valid on every network and does not expire, so include " +
      "the recipient and the date.",
  ],
  run: (given) =>
    Effect.gen(function* () {
      const { unlock } = yield* Verb.keyOf(given)
      const key = yield* unlock
      const address = Address.fromPublicKey(key.publicKey)
      const signature = key.sign(Message.signedBytes(given.text))
      const answer = { text: given.text, address, public_key: key.publicKey, signature }
      yield* Out.lines(given.json, answer, () => [
        ["text", Sheet.whole(given.text)],
        ...Describe.forms(address),
        ["public key", key.publicKey],
        // Longer than 80 columns, because a signature in two pieces cannot be copied.
        ["signature", signature],
      ])
    }),
})

const publicKey = Setting.argument("KEY", "the signer's public key", Reader.publicKey)

const signature = Setting.argument("SIGNATURE", "the signature, 128 hex characters", Reader.signature)

const by = Verb.wallet.optional("--by ADDRESS", "the account that the key must belong to", Reader.text)

export const verify = Verb.make({
  name: "verify",
  about: "checks the signature of a text",
  settings: { publicKey, signature, text, by, json: Verb.json },
  examples: [["is it hers?", "udg verify KEY SIGNATURE 'Hello Bob, 22 November' --by tudg1…"]],
  footer: [
    "Without --by it only prints the account of the key, for you to compare. Policies are not considered: a key that a " +
      "policy has replaced still belongs to its address.",
  ],
  run: (given) =>
    Effect.gen(function* () {
      const { text, publicKey, signature } = given
      const address = Address.fromPublicKey(publicKey)
      if (!Verification.isStrictlyValid({ message: Message.signedBytes(text), publicKey, signature })) {
        return yield* fail("unproven", "the signature does not belong to this text and this key")
      }
      const wanted = yield* Effect.transposeMapOption(given.by, (text) =>
        Effect.mapError(Account.ofAnyNetwork(text), ({ message }) => wrongUsage(message)),
      )
      if (Option.exists(wanted, (each) => each !== address)) {
        return yield* fail("unproven", `the signature is valid, but of another account: ${address}`)
      }
      yield* Out.lines(given.json, { is_valid: true, address, public_key: publicKey }, () => [
        ["signature", "valid"],
        ...Describe.forms(address),
      ])
    }),
})
