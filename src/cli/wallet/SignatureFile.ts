/**
 * A transaction on its way between signers: its content, network and signatures so far. Files are untrusted, so all of
 * it is checked, and only valid signatures count.
 */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Either, Schema } from "effect"
import * as Wallet from "../../client/Wallet.js"
import * as Keys from "../../protocol/identity/Keys.js"
import * as Network from "../../protocol/identity/Network.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Transaction from "../../protocol/transaction/Transaction.js"
import * as Verification from "../../protocol/transaction/Verification.js"
import { wrongUsage } from "../settings/WrongUsage.js"
import * as Out from "../terminal/Out.js"
import * as Sheet from "../terminal/Sheet.js"
import * as Signers from "./Signers.js"

const Content = Schema.Struct({
  udg_signatures: Schema.Literal(2),
  network_id: Network.NetworkId,
  address_prefix: Schema.Literal("tudg", "udg"),
  transaction: Schema.Unknown,
  policy: Schema.NullOr(
    Schema.Struct({
      threshold: Natural.between(1, Limits.POLICY_KEYS, "a threshold"),
      keys: Schema.Array(Keys.PublicKey).pipe(Schema.minItems(1), Schema.maxItems(Limits.POLICY_KEYS)),
    }),
  ),
  signatures: Schema.Array(Schema.Struct({ pub_key: Keys.PublicKey, signature: Keys.Signature })),
})

const decode = Schema.decodeUnknownEither(Schema.parseJson(Content), { onExcessProperty: "error" })

export interface Signatures {
  readonly unsigned: Wallet.Unsigned
  /** The policy when the file was written. It guides the signers; the network applies the current one. */
  readonly policy: Signers.Policy
  readonly signatures: ReadonlyArray<Transaction.KeySignature>
}

const INDENT = 2

const print = ({ unsigned, policy, signatures }: Signatures): string => {
  const content: typeof Content.Encoded = {
    udg_signatures: 2,
    network_id: unsigned.network.networkId,
    address_prefix: unsigned.network.prefix,
    transaction: Wallet.unsignedJson(unsigned),
    policy,
    signatures: signatures.map(({ publicKey, signature }) => ({ pub_key: publicKey, signature })),
  }
  return `${JSON.stringify(content, null, INDENT)}\n`
}

const unusable = (path: string, why: string) => wrongUsage(`${path}: ${why}`)

const reasonOf = (error: PlatformError): string => {
  if (error._tag !== "SystemError") return "it is not a path"
  return error.reason === "NotFound" ? "it does not exist" : error.reason
}

const isGood = (
  { network, transaction }: Wallet.Unsigned,
  { publicKey, signature }: Transaction.KeySignature,
): boolean =>
  Verification.isStrictlyValid({
    message: Transaction.signedBytes(network.networkId, transaction),
    publicKey,
    signature,
  })

const parse = (path: string, text: string) =>
  Effect.gen(function* () {
    const content = decode(text)
    if (Either.isLeft(content))
      return yield* unusable(
        path,
        "not a file of signatures of this version; a sending command makes one with --out FILE",
      )
    const { network_id, address_prefix, transaction, policy, signatures } = content.right
    const unsigned = yield* Effect.try({
      try: () => Wallet.parseUnsigned({ networkId: network_id, prefix: address_prefix }, transaction),
      catch: (error) => unusable(path, error instanceof Wallet.InvalidInput ? error.message : "not a transaction"),
    })
    const found = signatures.map(({ pub_key, signature }) => ({ publicKey: pub_key, signature }))
    const bad = found.find((each) => !isGood(unsigned, each))
    return bad === undefined
      ? ({ unsigned, policy, signatures: found } satisfies Signatures)
      : yield* unusable(path, `the signature of ${bad.publicKey} does not belong to this transaction`)
  })

export const load = (path: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(files.readFileString(path), (error) =>
      unusable(path, `cannot be read: ${reasonOf(error)}`),
    )
    return yield* parse(path, text)
  })

/** Replaces the file atomically. */
export const save = (path: string, signatures: Signatures) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const beside = `${path}.new`
    yield* files.writeFileString(beside, print(signatures))
    yield* files.rename(beside, path)
  }).pipe(Effect.mapError((error) => unusable(path, `cannot be written: ${reasonOf(error)}`)))

/** Writes a new file without signatures. Never replaces an existing one. */
export const create = (path: string, unsigned: Wallet.Unsigned, policy: Signers.Policy, asJson: boolean) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const text = print({ unsigned, policy, signatures: [] })
    yield* Effect.mapError(files.writeFileString(path, text, { flag: "wx" }), (error) =>
      unusable(path, `cannot be written: ${reasonOf(error)}`),
    )
    const hash = Wallet.hashOf(unsigned)
    yield* Out.lines(asJson, { hash, file: path }, () => [
      ["hash", hash],
      ["file", Sheet.whole(path)],
      ...Signers.progress(policy, []),
      ["next", Sheet.whole(`each signer: udg multisig sign ${path}`)],
    ])
  })
