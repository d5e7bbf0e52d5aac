/** The signed part of a vertex: its place in the DAG, its claims, and the hash of its body. */
import type { Either } from "effect"
import * as Binary from "../encoding/Binary.js"
import * as Address from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import * as Keys from "../identity/Keys.js"
import * as Limits from "../numbers/Limits.js"
import * as Natural from "../numbers/Natural.js"
import type { Sats } from "../numbers/Sats.js"
import type { Check } from "../transaction/Verification.js"

/** Includes its slot, so that a quorum can be counted without having the parents. */
export interface Parent {
  readonly round: Natural.Round
  readonly author: Address.Address
  readonly hash: Hash.Hash
}

export interface Content {
  /** Content hash of the closing checkpoint that opened the epoch: binds network and history. */
  readonly base: Hash.Hash
  readonly epoch: Natural.Epoch
  readonly round: Natural.Round
  readonly publicKey: Keys.PublicKey
  /** Strictly ascending by `compareParents`. */
  readonly parents: ReadonlyArray<Parent>
  readonly timestamp: Natural.Timestamp
  readonly coinbase: Sats
  readonly bodyHash: Hash.Hash
}

export interface Header extends Content {
  readonly signature: Keys.Signature
  /** The address of the public key. */
  readonly author: Address.Address
  /** The vertex's hash, of exactly the signed bytes. */
  readonly hash: Hash.Hash
}

const SIGNATURE_DOMAIN = Binary.utf8("udg/vertex\0")

/** The most that any committee allows, to bound the list where the committee is unknown. */
export const MAX_PARENTS = Limits.PARENTS_PER_MEMBER * Limits.COMMITTEE_MEMBERS

/** By round, author, hash: the only order in which parents are encoded. */
export const compareParents = (a: Parent, b: Parent): number => {
  if (a.round !== b.round) return a.round - b.round
  if (a.author !== b.author) return a.author < b.author ? -1 : 1
  if (a.hash !== b.hash) return a.hash < b.hash ? -1 : 1
  return 0
}

const isInOrder = (parents: ReadonlyArray<Parent>): boolean =>
  parents.every((parent, i) => {
    const before = parents[i - 1]
    return before === undefined || compareParents(before, parent) < 0
  })

const writeContent = (writer: Binary.Writer, content: Content): void => {
  writer
    .hex(content.base)
    .u64(content.epoch)
    .u64(content.round)
    .hex(content.publicKey)
    .list16(content.parents, ({ round, author, hash }) => writer.u64(round).hex(author).hex(hash))
    .u64(content.timestamp)
    .u64(content.coinbase)
    .hex(content.bodyHash)
}

const readParent = (reader: Binary.Reader): Parent => ({
  round: Natural.round(reader.u64()),
  author: Address.read(reader),
  hash: Hash.read(reader),
})

const readContent = (reader: Binary.Reader): Content => {
  const base = Hash.read(reader)
  const epoch = Natural.epoch(reader.u64())
  const round = Natural.round(reader.u64())
  const publicKey = Keys.readPublicKey(reader)
  const parents = reader.list16(MAX_PARENTS, () => readParent(reader))
  reader.require(isInOrder(parents), "parents not in order")
  const timestamp = reader.time()
  const coinbase = reader.sats()
  return { base, epoch, round, publicKey, parents, timestamp, coinbase, bodyHash: Hash.read(reader) }
}

const signedBytesOf = (encodedContent: Uint8Array): Uint8Array => Hash.tagged(SIGNATURE_DOMAIN, [encodedContent])

export const signedBytes = (content: Content): Uint8Array =>
  signedBytesOf(Binary.encode((writer) => writeContent(writer, content)))

/** The content of signed bytes: the inverse of `signedBytes`. */
export const signedContent = (signed: Uint8Array): Either.Either<Content, Binary.MalformedBytes> =>
  Binary.decode("signed vertex", signed, (reader) => {
    reader.literal(SIGNATURE_DOMAIN)
    return readContent(reader)
  })

const hashOf = (signed: Uint8Array): Hash.Hash => Hash.of("udg/vertex-id", signed)

/** Adds a signature to a header. `signWith` receives the bytes to sign. */
export const make = (content: Content, signWith: (bytes: Uint8Array) => Keys.Signature): Header => {
  const parents = [...content.parents].sort(compareParents)
  const sorted = { ...content, parents }
  const bytes = signedBytes(sorted)
  return {
    ...sorted,
    signature: signWith(bytes),
    author: Address.fromPublicKey(content.publicKey),
    hash: hashOf(bytes),
  }
}

export const sign = (content: Omit<Content, "publicKey">, key: Keys.Signer): Header =>
  make({ ...content, publicKey: key.publicKey }, (bytes) => key.sign(bytes))

/** Placeholder for a signature still to be made. No key makes it. */
const UNSIGNED = "0".repeat(2 * Keys.SIGNATURE_BYTES) as Keys.Signature

/** The header before its signature. Its hash is that of the signed one. */
export const unsigned = (content: Content): Header => make(content, () => UNSIGNED)

export const check = (header: Header): Check => ({
  message: signedBytes(header),
  publicKey: header.publicKey,
  signature: header.signature,
})

export const write = (writer: Binary.Writer, header: Header): void => {
  writeContent(writer, header)
  writer.hex(header.signature)
}

export const read = (reader: Binary.Reader): Header => {
  const start = reader.offset
  const content = readContent(reader)
  const encodedContent = reader.since(start)
  const signature = Keys.readSignature(reader)
  // Refused input is not hashed.
  const hash = reader.failure === undefined ? hashOf(signedBytesOf(encodedContent)) : Hash.ZERO
  return { ...content, signature, author: Address.fromPublicKey(content.publicKey), hash }
}

/** The encoded size of a header without parents, and of each parent. */
const BARE_BYTES = 32 + 8 + 8 + 32 + 2 + 8 + 8 + 32 + 64
const PARENT_BYTES = 8 + 20 + 32

/** The maximum encoded length. */
export const MAX_BYTES = BARE_BYTES + PARENT_BYTES * MAX_PARENTS

export const lengthOf = ({ parents }: Header): number => BARE_BYTES + PARENT_BYTES * parents.length

export const { encode, decode } = Binary.codec("vertex header", write, read)

/** Whether two headers fill the same slot, which an honest author does at most once. */
export const isSameSlot = (a: Header, b: Header): boolean =>
  a.base === b.base && a.epoch === b.epoch && a.round === b.round && a.publicKey === b.publicKey
