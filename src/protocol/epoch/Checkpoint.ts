/** The state after one commit, in a form that a quorum of the committee signs. Closing checkpoints form a chain. */
import type { Either } from "effect"
import * as Binary from "../encoding/Binary.js"
import * as Address from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import * as Keys from "../identity/Keys.js"
import * as Limits from "../numbers/Limits.js"
import * as Natural from "../numbers/Natural.js"
import type { Sats } from "../numbers/Sats.js"
import type { Check } from "../transaction/Verification.js"
import * as EpochRecord from "./EpochRecord.js"

export interface Content {
  readonly epoch: Natural.Epoch
  readonly round: Natural.Round
  readonly commitIndex: Natural.CommitIndex
  readonly commitHash: Hash.Hash
  readonly effectsDigest: Hash.Hash
  readonly stateRoot: Hash.Hash
  readonly totalSupply: Sats
  /** Present if and only if the commit closes its epoch. */
  readonly nextEpoch: EpochRecord.EpochRecord | null
  /** Content hash of the previous closing checkpoint; for the checkpoint of genesis, the genesis hash. */
  readonly previous: Hash.Hash
}

export interface Checkpoint extends Content {
  /** The hash of the content, without signatures. */
  readonly hash: Hash.Hash
}

export interface Closing extends Checkpoint {
  readonly nextEpoch: EpochRecord.EpochRecord
}

export const isClosing = (checkpoint: Checkpoint): checkpoint is Closing => checkpoint.nextEpoch !== null

export interface CheckpointSignature {
  readonly validator: Address.Address
  readonly signature: Keys.Signature
}

export interface SignedCheckpoint {
  readonly checkpoint: Checkpoint
  /** In the order of the validators' addresses. */
  readonly signatures: ReadonlyArray<CheckpointSignature>
}

export interface SignedClosing extends SignedCheckpoint {
  readonly checkpoint: Closing
}

const SIGNATURE_DOMAIN = Binary.utf8("udg/checkpoint\0")

const writeContent = (writer: Binary.Writer, content: Content): void => {
  writer
    .u64(content.epoch)
    .u64(content.round)
    .u64(content.commitIndex)
    .hex(content.commitHash)
    .hex(content.effectsDigest)
    .hex(content.stateRoot)
    .u64(content.totalSupply)
    .boolean(content.nextEpoch !== null)
  if (content.nextEpoch !== null) EpochRecord.write(writer, content.nextEpoch)
  writer.hex(content.previous)
}

const readContent = (reader: Binary.Reader): Content => ({
  epoch: Natural.epoch(reader.u64()),
  round: Natural.round(reader.u64()),
  commitIndex: Natural.commitIndex(reader.u64()),
  commitHash: Hash.read(reader),
  effectsDigest: Hash.read(reader),
  stateRoot: Hash.read(reader),
  totalSupply: reader.sats(),
  nextEpoch: reader.boolean() ? EpochRecord.read(reader) : null,
  previous: Hash.read(reader),
})

const signedBytesOf = (encodedContent: Uint8Array): Uint8Array => Hash.tagged(SIGNATURE_DOMAIN, [encodedContent])

export const signedBytes = (content: Content): Uint8Array =>
  signedBytesOf(Binary.encode((writer) => writeContent(writer, content)))

/** The content of signed bytes: the inverse of `signedBytes`. */
export const signedContent = (signed: Uint8Array): Either.Either<Content, Binary.MalformedBytes> =>
  Binary.decode("signed checkpoint content", signed, (reader) => {
    reader.literal(SIGNATURE_DOMAIN)
    return readContent(reader)
  })

export const make = <C extends Content>(content: C): C & Pick<Checkpoint, "hash"> => ({
  ...content,
  hash: Hash.of("udg/checkpoint-id", signedBytes(content)),
})

export const sign = (checkpoint: Checkpoint, key: Keys.Signer): CheckpointSignature => ({
  validator: Address.fromPublicKey(key.publicKey),
  signature: key.sign(signedBytes(checkpoint)),
})

/** The check for this committee member's signature under this checkpoint. */
export const check = (checkpoint: Checkpoint, member: EpochRecord.Member, signature: Keys.Signature): Check => ({
  message: signedBytes(checkpoint),
  publicKey: member.publicKey,
  signature,
})

export const write = (writer: Binary.Writer, checkpoint: Checkpoint): void => writeContent(writer, checkpoint)

export const read = (reader: Binary.Reader): Checkpoint => {
  const start = reader.offset
  const content = readContent(reader)
  return { ...content, hash: Hash.of("udg/checkpoint-id", signedBytesOf(reader.since(start))) }
}

export const { encode, decode } = Binary.codec("checkpoint", write, read)

const readSigned = (reader: Binary.Reader): SignedCheckpoint => {
  const checkpoint = read(reader)
  const signatures = reader.list8(Limits.COMMITTEE_MEMBERS, () => ({
    validator: Address.read(reader),
    signature: Keys.readSignature(reader),
  }))
  reader.require(
    Binary.isStrictlyAscending(signatures, ({ validator }) => validator),
    "signatures not in the order of their validators",
  )
  return { checkpoint, signatures }
}

export const encodeSigned = ({ checkpoint, signatures }: SignedCheckpoint): Uint8Array =>
  Binary.encode((writer) => {
    write(writer, checkpoint)
    writer.list8(signatures, ({ validator, signature }) => writer.hex(validator).hex(signature))
  })

export const decodeSigned = (bytes: Uint8Array): Either.Either<SignedCheckpoint, Binary.MalformedBytes> =>
  Binary.decode("signed checkpoint", bytes, readSigned)
