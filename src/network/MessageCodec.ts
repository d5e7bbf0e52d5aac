/**
 * Binary encoding of messages: one byte for the kind, then the fields in their protocol encodings. Parts with an
 * encoding of their own carry a length prefix, so that they can be kept without the message.
 */
import { Either } from "effect"
import * as Subtree from "../ledger/trie/Subtree.js"
import * as Binary from "../protocol/encoding/Binary.js"
import * as Checkpoint from "../protocol/epoch/Checkpoint.js"
import * as Address from "../protocol/identity/Address.js"
import * as Hash from "../protocol/identity/Hash.js"
import * as Keys from "../protocol/identity/Keys.js"
import type { NetworkId } from "../protocol/identity/Network.js"
import * as Limits from "../protocol/numbers/Limits.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Transaction from "../protocol/transaction/Transaction.js"
import * as Evidence from "../protocol/vertex/Evidence.js"
import * as Header from "../protocol/vertex/Header.js"
import * as Heartbeat from "../protocol/vertex/Heartbeat.js"
import type * as Vertex from "../protocol/vertex/Vertex.js"
import * as Messages from "../replica/messages/Message.js"

type Message = Messages.Message
/** A message whose vertices are not decoded yet. */
type Packed = Messages.Message<Vertex.Encoded>
export type Tag = Message["_tag"]
type Of<T extends Tag> = Extract<Message, { readonly _tag: T }>
type PackedOf<T extends Tag> = Extract<Packed, { readonly _tag: T }>

/** Gossip is below 16, questions are below 32, answers above. */
const BYTE_OF: { readonly [T in Tag]: number } = {
  Vertices: 1,
  Transactions: 2,
  Heartbeat: 3,
  Evidence: 4,
  CheckpointSignature: 5,
  AskVertices: 16,
  AskRounds: 17,
  AskClosing: 18,
  AskHighest: 19,
  AskState: 20,
  Rounds: 32,
  Closing: 33,
  Highest: 34,
  State: 35,
}

/** Room for an answer's length prefixes, which `ANSWER_BYTES` does not count, with the smallest possible vertices. */
const OVERHEAD_BYTES = 65_536
export const MAX_BYTES = Messages.ANSWER_BYTES + OVERHEAD_BYTES
/** More than fit: the smallest vertex has 198 bytes. */
const MAX_VERTICES = 16_384
const MAX_TRANSACTIONS = 4_096
const MAX_POSITION_BYTES = 1 + Hash.BYTES

const writeBytes = (writer: Binary.Writer, bytes: Uint8Array): void => {
  writer.u32(bytes.length).raw(bytes)
}

/** A copy: the bytes outlive their message. */
const readBytes = (reader: Binary.Reader, limit: number): Uint8Array => {
  const length = reader.u32()
  reader.require(length <= limit, `${length} bytes, at most ${limit} allowed`)
  return reader.raw(length).slice()
}

/** A value with an encoding of its own; undefined once the reader has failed. */
const readWhole = <A>(
  reader: Binary.Reader,
  limit: number,
  decode: (bytes: Uint8Array) => Either.Either<A, Binary.MalformedBytes>,
): A | undefined => {
  const bytes = readBytes(reader, limit)
  if (reader.failure !== undefined) return undefined
  const decoded = decode(bytes)
  if (Either.isRight(decoded)) return decoded.right
  reader.fail(decoded.left.message)
  return undefined
}

const present = <A>(items: ReadonlyArray<A | undefined>): ReadonlyArray<A> => items.filter((item) => item !== undefined)

const writeVertices = (writer: Binary.Writer, vertices: ReadonlyArray<Vertex.Encoded>): void => {
  writer.list32(vertices, ({ encoded }) => writeBytes(writer, encoded))
}

/** Views of the message; decoding a vertex copies it. */
const readVertices = (reader: Binary.Reader): ReadonlyArray<Vertex.Encoded> =>
  reader.list32(MAX_VERTICES, () => {
    const length = reader.u32()
    reader.require(length <= Limits.VERTEX_BYTES, `${length} bytes, at most ${Limits.VERTEX_BYTES} allowed`)
    return { encoded: reader.raw(length) }
  })

const readSigned = (reader: Binary.Reader): Checkpoint.SignedCheckpoint | undefined =>
  readWhole(reader, MAX_BYTES, Checkpoint.decodeSigned)

const write = (writer: Binary.Writer, message: Packed): void => {
  switch (message._tag) {
    case "Vertices":
      writeVertices(writer, message.vertices)
      return
    case "Transactions":
      writer.list32(message.transactions, ({ encoded }) => writer.raw(encoded))
      return
    case "Heartbeat":
      Heartbeat.write(writer, message.heartbeat)
      return
    case "Evidence":
      Evidence.write(writer, message.evidence)
      return
    case "CheckpointSignature":
      Checkpoint.write(writer, message.checkpoint)
      writer.hex(message.signature.validator).hex(message.signature.signature)
      return
    case "AskVertices":
      writer.list16(message.hashes, (hash) => writer.hex(hash))
      return
    case "AskRounds":
      writer
        .u64(message.epoch)
        .u64(message.fromRound)
        .u64(message.toRound)
        .boolean(message.after !== null)
      if (message.after !== null) writer.hex(message.after)
      return
    case "AskClosing":
      writer.u64(message.from)
      return
    case "AskHighest":
      writer.hex(message.author)
      return
    case "AskState":
      writer.hex(message.root)
      writeBytes(writer, message.position)
      return
    case "Rounds":
      writer.u64(message.epoch).boolean(message.isLast)
      writeVertices(writer, message.vertices)
      return
    case "Closing":
      writer.list8(message.signed, (signed) => writeBytes(writer, Checkpoint.encodeSigned(signed)))
      writer.boolean(message.newest !== null)
      if (message.newest !== null) writeBytes(writer, Checkpoint.encodeSigned(message.newest))
      return
    case "Highest":
      writer
        .hex(message.author)
        .u64(message.epoch)
        .boolean(message.header !== null)
      if (message.header !== null) Header.write(writer, message.header)
      return
    case "State":
      writer.hex(message.root).boolean(message.subtree !== null)
      if (message.subtree !== null) writeBytes(writer, message.subtree)
  }
}

const readClosing = (reader: Binary.Reader): Of<"Closing"> => {
  const signed = present(reader.list8(Messages.ANSWERED_CHECKPOINTS, () => readSigned(reader)))
  const newest = reader.boolean() ? (readSigned(reader) ?? null) : null
  return { _tag: "Closing", signed, newest }
}

const readTransactions = (networkId: NetworkId, reader: Binary.Reader): ReadonlyArray<Transaction.Transaction> =>
  reader.list32(MAX_TRANSACTIONS, () => {
    const transaction = Transaction.read(networkId, reader)
    // A copy, so that a transaction in the mempool does not keep the whole message alive.
    return { ...transaction, encoded: transaction.encoded.slice() }
  })

const READ: { readonly [T in Tag]: (networkId: NetworkId, reader: Binary.Reader) => PackedOf<T> } = {
  Vertices: (_, reader) => ({ _tag: "Vertices", vertices: readVertices(reader) }),
  Transactions: (networkId, reader) => ({ _tag: "Transactions", transactions: readTransactions(networkId, reader) }),
  Heartbeat: (_, reader) => ({ _tag: "Heartbeat", heartbeat: Heartbeat.read(reader) }),
  Evidence: (_, reader) => ({ _tag: "Evidence", evidence: Evidence.read(reader) }),
  CheckpointSignature: (_, reader) => ({
    _tag: "CheckpointSignature",
    checkpoint: Checkpoint.read(reader),
    signature: { validator: Address.read(reader), signature: Keys.readSignature(reader) },
  }),
  AskVertices: (_, reader) => ({
    _tag: "AskVertices",
    hashes: reader.list16(Messages.ASKED_VERTICES, () => Hash.read(reader)),
  }),
  AskRounds: (_, reader) => ({
    _tag: "AskRounds",
    epoch: Natural.epoch(reader.u64()),
    fromRound: Natural.round(reader.u64()),
    toRound: Natural.round(reader.u64()),
    after: reader.boolean() ? Hash.read(reader) : null,
  }),
  AskClosing: (_, reader) => ({ _tag: "AskClosing", from: Natural.epoch(reader.u64()) }),
  AskHighest: (_, reader) => ({ _tag: "AskHighest", author: Address.read(reader) }),
  AskState: (_, reader) => ({
    _tag: "AskState",
    root: Hash.read(reader),
    position: readBytes(reader, MAX_POSITION_BYTES),
  }),
  Rounds: (_, reader) => {
    const epoch = Natural.epoch(reader.u64())
    const isLast = reader.boolean()
    return { _tag: "Rounds", epoch, vertices: readVertices(reader), isLast }
  },
  Closing: (_, reader) => readClosing(reader),
  Highest: (_, reader) => ({
    _tag: "Highest",
    author: Address.read(reader),
    epoch: Natural.epoch(reader.u64()),
    header: reader.boolean() ? Header.read(reader) : null,
  }),
  State: (_, reader) => ({
    _tag: "State",
    root: Hash.read(reader),
    subtree: reader.boolean() ? readBytes(reader, Subtree.MAX_BYTES) : null,
  }),
}

const TAG_BY_BYTE: ReadonlyMap<number, Tag> = new Map(Object.entries(BYTE_OF).map(([tag, byte]) => [byte, tag as Tag]))

export const encode = (message: Packed): Uint8Array =>
  Binary.encode((writer) => {
    writer.u8(BYTE_OF[message._tag])
    write(writer, message)
  })

/** The kind these bytes claim to be, for callers that must not pay for decoding. */
export const tagOf = (bytes: Uint8Array): Tag | undefined => TAG_BY_BYTE.get(bytes[0] ?? 0)

/** Decodes everything except the vertices, which stay views of `bytes`, since unwanted ones need not be read. */
export const unpack = (networkId: NetworkId, bytes: Uint8Array): Either.Either<Packed, Binary.MalformedBytes> =>
  Either.flatMap(
    Binary.decode("message", bytes, (reader) => {
      reader.require(bytes.length <= MAX_BYTES, `${bytes.length} bytes, at most ${MAX_BYTES} allowed`)
      const byte = reader.u8()
      const tag = TAG_BY_BYTE.get(byte)
      if (tag === undefined) reader.fail(`unknown kind of message ${byte}`)
      return tag && READ[tag](networkId, reader)
    }),
    (message) =>
      message === undefined
        ? Either.left(new Binary.MalformedBytes({ what: "message", offset: 0, reason: "unknown kind of message" }))
        : Either.right(message),
  )

export const isGossip = ({ _tag }: Pick<Message, "_tag">): boolean => BYTE_OF[_tag] < 16

export const isQuestion = (message: Pick<Packed, "_tag">): message is Messages.Question | Messages.DiskQuestion =>
  BYTE_OF[message._tag] >= 16 && BYTE_OF[message._tag] < 32

/** Vertices are both gossip and an answer. */
export const isAnswer = ({ _tag }: Pick<Message, "_tag">): boolean => BYTE_OF[_tag] >= 32 || _tag === "Vertices"
