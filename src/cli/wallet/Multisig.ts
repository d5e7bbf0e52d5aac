/** `udg multisig`: several keys sign a transaction, each on its own machine. */
import { Effect, Option } from "effect"
import * as Wallet from "../../client/Wallet.js"
import { fail } from "../keys/WalletFailure.js"
import type * as Command from "../settings/Command.js"
import * as Reader from "../settings/Reader.js"
import * as Setting from "../settings/Setting.js"
import { wrongUsage } from "../settings/WrongUsage.js"
import * as Out from "../terminal/Out.js"
import * as Sheet from "../terminal/Sheet.js"
import * as Describe from "./Describe.js"
import type * as Node from "./Node.js"
import * as Sending from "./Sending.js"
import * as SignatureFile from "./SignatureFile.js"
import * as Signers from "./Signers.js"
import * as Verb from "./Verb.js"

const settings = {
  action: Setting.argument(
    "show|sign|submit",
    "show it, add the key's signature, or send it",
    Reader.choice("show", "sign", "submit"),
  ),
  files: Setting.remainingArguments(
    "FILE",
    "a file written by --out of a sending command; submit also takes copies that were signed separately",
    Reader.text,
  ),
  network: Sending.settings.network,
  noWait: Sending.settings.noWait,
  key: Verb.key,
  node: Verb.node,
  json: Verb.json,
}

type Given = Command.Values<typeof settings>

/** One transaction with the signatures of all files. */
const load = ({ files, network }: Given) =>
  Effect.gen(function* () {
    const [first, ...others] = yield* Effect.forEach(files, SignatureFile.load)
    if (first === undefined) return yield* wrongUsage("FILE is missing")
    const hash = Wallet.hashOf(first.unsigned)
    if (others.some(({ unsigned }) => Wallet.hashOf(unsigned) !== hash)) {
      return yield* wrongUsage("the files hold different transactions; pass copies of one")
    }
    const { networkId } = first.unsigned.network
    if (Option.exists(network, (expected) => expected !== networkId)) {
      return yield* wrongUsage(`it is for the network "${networkId}", not for the one in --network`)
    }
    const { unsigned, policy } = first
    const byKey = new Map(
      [first, ...others].flatMap(({ signatures }) => signatures).map((each) => [each.publicKey, each]),
    )
    return { unsigned, policy, signatures: [...byKey.values()] } satisfies SignatureFile.Signatures
  })

const jsonOf = ({ policy, signatures }: SignatureFile.Signatures) => ({
  signed_by: signatures.map(({ publicKey }) => publicKey),
  threshold: Signers.thresholdOf(policy),
  keys: policy?.keys ?? null,
})

/** A file to show or sign. Only signatures that count are kept. */
const loadOne = (given: Given) =>
  Effect.map(load(given), (file) => ({
    ...file,
    signatures: Signers.counted(file.policy, file.unsigned.transaction.from, file.signatures),
  }))

const show = (given: Given) =>
  Effect.gen(function* () {
    const file = yield* loadOne(given)
    const { networkId, prefix } = file.unsigned.network
    const hash = Wallet.hashOf(file.unsigned)
    const transaction = Wallet.unsignedJson(file.unsigned)
    yield* Out.lines(given.json, { hash, network_id: networkId, transaction, ...jsonOf(file) }, () => [
      ...Describe.transaction(transaction, prefix),
      ["network", networkId],
      ["hash", hash],
      ...Signers.progress(file.policy, file.signatures),
    ])
  })

const sign = (given: Given) =>
  Effect.gen(function* () {
    const [file, ...others] = given.files
    if (file === undefined || others.length > 0)
      return yield* wrongUsage("udg multisig sign takes one file, and adds a signature to it")
    const { unsigned, policy, signatures } = yield* loadOne(given)
    const { publicKey, unlock } = yield* Verb.keyOf(given)
    if (!Signers.isSigner(policy, unsigned.transaction.from, publicKey)) {
      return yield* wrongUsage(
        `the key ${publicKey} does not sign for this account; use one that udg multisig show lists, or write the file again ` +
          "if the account's policy has changed",
      )
    }
    if (signatures.some((each) => each.publicKey === publicKey)) {
      return yield* wrongUsage(`the key ${publicKey} has signed it already`)
    }
    yield* Sending.show(unsigned)
    const signed = { unsigned, policy, signatures: [...signatures, Wallet.cosign(unsigned, yield* unlock)] }
    yield* SignatureFile.save(file, signed)
    const hash = Wallet.hashOf(unsigned)
    yield* Out.lines(given.json, { hash, file, ...jsonOf(signed) }, () => [
      ["hash", hash],
      ["file", Sheet.whole(file)],
      ...Signers.progress(policy, signed.signatures),
    ])
  })

/** Applies the account's current policy and drops signatures that do not count, so that nobody can spoil the others. */
const signedFor = (node: Node.Node, { unsigned, signatures }: SignatureFile.Signatures) =>
  Effect.gen(function* () {
    const { from } = unsigned.transaction
    const policy = yield* Sending.policyOf(node, from)
    const valid = Signers.counted(policy, from, signatures)
    const threshold = Signers.thresholdOf(policy)
    const [own] = valid
    if (own === undefined || valid.length < threshold) {
      return yield* wrongUsage(
        `${valid.length} of ${threshold} have signed; udg multisig show lists the keys that may still sign`,
      )
    }
    if (policy !== null) return yield* Sending.built(() => Wallet.combine(unsigned, valid))
    return { ...Wallet.unsignedJson(unsigned), pub_key: own.publicKey, signature: own.signature }
  })

const submit = (given: Given) =>
  Effect.gen(function* () {
    const signed = yield* load(given)
    const contact = yield* Verb.contact(given)
    const { node, info } = contact
    const { networkId } = signed.unsigned.network
    if (info.network_id !== networkId) {
      return yield* fail(
        "node",
        `it is for the network "${networkId}", but ${node.url} is a node of "${info.network_id}"`,
      )
    }
    const complete = yield* signedFor(node, signed)
    yield* Sending.submit(given, contact, signed.unsigned, complete)
  })

export const multisig = Verb.make({
  name: "multisig",
  about: "signs a transaction with several keys, and sends it",
  settings,
  examples: [
    [
      "write a payment from an account with several keys to a file",
      "udg send @bob 5 --from @treasury --out payment.json",
    ],
    ["each signer signs the file and passes it on", "udg multisig sign payment.json"],
    ["with enough signatures, anyone can send it", "udg multisig submit payment.json"],
  ],
  footer: [
    "The file contains no secrets. Signing needs no node. Signers can also work on copies: pass all of them to udg " +
      "multisig submit FILE FILE.",
  ],
  run: (given) => ({ show, sign, submit })[given.action](given),
})
