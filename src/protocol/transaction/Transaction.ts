/**
 * A transaction: sender, nonce, fee, operation and signatures. It belongs to one network, because its id and its signed
 * bytes contain the network's id.
 */
import { Either } from "effect"
import * as Binary from "../encoding/Binary.js"
import * as Address from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import * as Keys from "../identity/Keys.js"
import type { NetworkId } from "../identity/Network.js"
import * as Limits from "../numbers/Limits.js"
import * as Natural from "../numbers/Natural.js"
import type { Sats } from "../numbers/Sats.js"
import * as Operation from "./Operation.js"

export interface Unsigned {
  readonly from: Address.Address
  readonly nonce: Natural.Nonce
  readonly fee: Sats
  readonly operation: Operation.Operation
}

export interface KeySignature {
  readonly publicKey: Keys.PublicKey
  readonly signature: Keys.Signature
}

/** By the account's single key, or by several keys of a smart account. */
export type Authorization =
  | ({ readonly _tag: "SingleKey" } & KeySignature)
  | { readonly _tag: "Policy"; readonly signatures: ReadonlyArray<KeySignature> }

export interface Transaction extends Unsigned {
  readonly authorization: Authorization
  /** H("udg/tx-id", signed bytes): covers no signature, so nobody can change another sender's id. */
  readonly id: Hash.Hash
  /** The canonical bytes as a vertex contains them. */
  readonly encoded: Uint8Array
}

const SIGNATURE_DOMAIN = Binary.utf8("udg/tx\0")
const KEY_SIGNATURE_BYTES = Keys.PUBLIC_KEY_BYTES + Keys.SIGNATURE_BYTES

const writeUnsigned = (writer: Binary.Writer, unsigned: Unsigned): void => {
  writer.u8(Operation.TYPE_BYTE[unsigned.operation._tag]).hex(unsigned.from).u64(unsigned.nonce).u64(unsigned.fee)
  Operation.write(writer, unsigned.operation)
}

/** A count of 0 marks the single-key form: one key and signature follow. */
const writeAuthorization = (writer: Binary.Writer, authorization: Authorization): void => {
  const write = ({ publicKey, signature }: KeySignature): void => {
    writer.hex(publicKey).hex(signature)
  }
  switch (authorization._tag) {
    case "SingleKey":
      writer.u8(0)
      write(authorization)
      return
    case "Policy":
      if (authorization.signatures.length === 0) throw new RangeError("a policy authorization without a signature")
      writer.list8(authorization.signatures, write)
  }
}

const readKeySignature = (reader: Binary.Reader): KeySignature => ({
  publicKey: Keys.readPublicKey(reader),
  signature: Keys.readSignature(reader),
})

const readAuthorization = (reader: Binary.Reader): Authorization => {
  const count = reader.u8()
  if (count === 0) return { _tag: "SingleKey", ...readKeySignature(reader) }
  const signatures = reader.list(count, Limits.POLICY_KEYS, () => readKeySignature(reader))
  reader.require(hasDistinctKeys(signatures), "two signatures of one key")
  return { _tag: "Policy", signatures }
}

const hasDistinctKeys = (signatures: ReadonlyArray<KeySignature>): boolean =>
  new Set(signatures.map(({ publicKey }) => publicKey)).size === signatures.length

export const keySignatures = (authorization: Authorization): ReadonlyArray<KeySignature> =>
  authorization._tag === "SingleKey" ? [authorization] : authorization.signatures

/** The last network used. A process serves one network, whose few bytes precede everything it signs. */
let lastDomain: { readonly networkId: NetworkId; readonly bytes: Uint8Array } | undefined

/** "udg/tx" ‖ 0x00 ‖ u8 length ‖ network id. */
const domainOf = (networkId: NetworkId): Uint8Array => {
  if (lastDomain?.networkId !== networkId) {
    lastDomain = { networkId, bytes: Binary.encode((writer) => writer.raw(SIGNATURE_DOMAIN).text8(networkId)) }
  }
  return lastDomain.bytes
}

const encodeUnsigned = (unsigned: Unsigned): Uint8Array => Binary.encode((writer) => writeUnsigned(writer, unsigned))

const signedBytesOf = (networkId: NetworkId, encodedUnsigned: Uint8Array): Uint8Array =>
  Hash.tagged(domainOf(networkId), [encodedUnsigned])

const idOfEncoded = (networkId: NetworkId, encodedUnsigned: Uint8Array): Hash.Hash =>
  Hash.of("udg/tx-id", domainOf(networkId), encodedUnsigned)

/** The bytes that the keys sign: "udg/tx" ‖ 0x00 ‖ u8 length ‖ network id ‖ unsigned bytes. */
export const signedBytes = (networkId: NetworkId, unsigned: Unsigned): Uint8Array =>
  signedBytesOf(networkId, encodeUnsigned(unsigned))

const authorizationLength = (authorization: Authorization): number =>
  1 + keySignatures(authorization).length * KEY_SIGNATURE_BYTES

/** The bytes that the keys of this transaction signed, from its canonical bytes. */
export const bytesUnderSignature = (networkId: NetworkId, transaction: Transaction): Uint8Array =>
  signedBytesOf(
    networkId,
    transaction.encoded.subarray(0, transaction.encoded.length - authorizationLength(transaction.authorization)),
  )

/** Whether these are the same signatures by the same keys, in the same order. */
export const isSameAuthorization = (one: Authorization, other: Authorization): boolean => {
  const [ours, theirs] = [keySignatures(one), keySignatures(other)]
  return (
    one._tag === other._tag &&
    ours.length === theirs.length &&
    ours.every(
      ({ publicKey, signature }, i) => publicKey === theirs[i]?.publicKey && signature === theirs[i]?.signature,
    )
  )
}

export const idOf = (networkId: NetworkId, unsigned: Unsigned): Hash.Hash =>
  idOfEncoded(networkId, encodeUnsigned(unsigned))

const authorize = (
  networkId: NetworkId,
  { from, nonce, fee, operation }: Unsigned,
  encodedUnsigned: Uint8Array,
  authorization: Authorization,
): Transaction => {
  const encoded = Binary.encode((writer) => {
    writer.raw(encodedUnsigned)
    writeAuthorization(writer, authorization)
  })
  return { from, nonce, fee, operation, authorization, id: idOfEncoded(networkId, encodedUnsigned), encoded }
}

/** Adds an authorization to the bytes it signed. `Verification` decides whether it is valid. */
export const make = (networkId: NetworkId, unsigned: Unsigned, authorization: Authorization): Transaction =>
  authorize(networkId, unsigned, encodeUnsigned(unsigned), authorization)

/** Signs for an account that this key controls alone. */
export const sign = (networkId: NetworkId, unsigned: Unsigned, key: Keys.Signer): Transaction => {
  const encodedUnsigned = encodeUnsigned(unsigned)
  const signature = key.sign(signedBytesOf(networkId, encodedUnsigned))
  return authorize(networkId, unsigned, encodedUnsigned, { _tag: "SingleKey", publicKey: key.publicKey, signature })
}

/** Makes one of the signatures for a smart account. */
export const cosign = (networkId: NetworkId, unsigned: Unsigned, key: Keys.Signer): KeySignature => ({
  publicKey: key.publicKey,
  signature: key.sign(signedBytes(networkId, unsigned)),
})

const readUnsigned = (reader: Binary.Reader): Unsigned => {
  const typeByte = reader.u8()
  const from = Address.read(reader)
  const nonce = Natural.nonce(reader.u64())
  const fee = reader.sats()
  return { from, nonce, fee, operation: Operation.read(reader, typeByte) }
}

/** Reads one transaction inside a longer encoding. */
export const read = (networkId: NetworkId, reader: Binary.Reader): Transaction => {
  const start = reader.offset
  const { from, nonce, fee, operation } = readUnsigned(reader)
  const unsigned = reader.since(start)
  const authorization = readAuthorization(reader)
  // Refused input is not hashed.
  const id = reader.failure === undefined ? idOfEncoded(networkId, unsigned) : Hash.ZERO
  return { from, nonce, fee, operation, authorization, id, encoded: reader.since(start) }
}

export const decode = (networkId: NetworkId, bytes: Uint8Array): Either.Either<Transaction, Binary.MalformedBytes> =>
  // A copy, so that the transaction does not keep its whole network frame alive.
  Either.map(
    Binary.decode("transaction", bytes, (reader) => read(networkId, reader)),
    (transaction) => ({ ...transaction, encoded: transaction.encoded.slice() }),
  )

/** Decodes one of several concatenated transactions, counted from 0. The result keeps `bytes` alive. */
export const decodeNth = (
  networkId: NetworkId,
  bytes: Uint8Array,
  index: number,
): Either.Either<Transaction, Binary.MalformedBytes> => {
  const reader = new Binary.Reader(bytes)
  for (let before = 0; before < index; before++) {
    readUnsigned(reader)
    readAuthorization(reader)
  }
  const transaction = read(networkId, reader)
  const { failure } = reader
  return failure === undefined
    ? Either.right(transaction)
    : Either.left(new Binary.MalformedBytes({ what: "transaction", ...failure }))
}

/** Decodes the first `count` of several concatenated transactions. The result keeps `bytes` alive. */
export const decodeFirst = (
  networkId: NetworkId,
  bytes: Uint8Array,
  count: number,
): Either.Either<ReadonlyArray<Transaction>, Binary.MalformedBytes> => {
  const reader = new Binary.Reader(bytes)
  const transactions = Array.from({ length: count }, () => read(networkId, reader))
  const { failure } = reader
  return failure === undefined
    ? Either.right(transactions)
    : Either.left(new Binary.MalformedBytes({ what: "transaction", ...failure }))
}
