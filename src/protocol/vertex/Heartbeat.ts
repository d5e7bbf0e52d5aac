/**
 * A validator outside the committee signs heartbeats to show that it is online and follows the chain, so that it can
 * join. A heartbeat names a recent commit, so it cannot be made in advance and is worthless on another network.
 */
import type { Either } from "effect"
import * as Binary from "../encoding/Binary.js"
import * as Address from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import * as Keys from "../identity/Keys.js"
import * as Natural from "../numbers/Natural.js"
import type { Check } from "../transaction/Verification.js"

export interface Heartbeat {
  readonly publicKey: Keys.PublicKey
  readonly commitIndex: Natural.CommitIndex
  readonly commitHash: Hash.Hash
  readonly signature: Keys.Signature
  /** The address of the public key. */
  readonly validator: Address.Address
}

const SIGNATURE_DOMAIN = Binary.utf8("udg/heartbeat\0")

type Content = Pick<Heartbeat, "publicKey" | "commitIndex" | "commitHash">

const writeContent = (writer: Binary.Writer, { publicKey, commitIndex, commitHash }: Content): void => {
  writer.hex(publicKey).u64(commitIndex).hex(commitHash)
}

export const signedBytes = (content: Content): Uint8Array =>
  Hash.tagged(SIGNATURE_DOMAIN, [Binary.encode((writer) => writeContent(writer, content))])

/** The content of signed bytes: the inverse of `signedBytes`. */
export const signedContent = (signed: Uint8Array): Either.Either<Content, Binary.MalformedBytes> =>
  Binary.decode("signed heartbeat", signed, (reader) => {
    reader.literal(SIGNATURE_DOMAIN)
    return {
      publicKey: Keys.readPublicKey(reader),
      commitIndex: Natural.commitIndex(reader.u64()),
      commitHash: Hash.read(reader),
    }
  })

export const make = (content: Content, signature: Keys.Signature): Heartbeat => ({
  ...content,
  signature,
  validator: Address.fromPublicKey(content.publicKey),
})

export const sign = (commitIndex: Natural.CommitIndex, commitHash: Hash.Hash, key: Keys.Signer): Heartbeat => {
  const content = { publicKey: key.publicKey, commitIndex, commitHash }
  return make(content, key.sign(signedBytes(content)))
}

export const check = (heartbeat: Heartbeat): Check => ({
  message: signedBytes(heartbeat),
  publicKey: heartbeat.publicKey,
  signature: heartbeat.signature,
})

export const write = (writer: Binary.Writer, heartbeat: Heartbeat): void => {
  writeContent(writer, heartbeat)
  writer.hex(heartbeat.signature)
}

export const read = (reader: Binary.Reader): Heartbeat => {
  const publicKey = Keys.readPublicKey(reader)
  const commitIndex = Natural.commitIndex(reader.u64())
  const commitHash = Hash.read(reader)
  const signature = Keys.readSignature(reader)
  return { publicKey, commitIndex, commitHash, signature, validator: Address.fromPublicKey(publicKey) }
}

export const { encode, decode } = Binary.codec("heartbeat", write, read)
