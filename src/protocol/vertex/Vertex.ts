/** A vertex of the DAG: a signed header and the body it commits to. */
import { Either } from "effect"
import * as Binary from "../encoding/Binary.js"
import * as Hash from "../identity/Hash.js"
import type { Signature, Signer } from "../identity/Keys.js"
import type { NetworkId } from "../identity/Network.js"
import * as Limits from "../numbers/Limits.js"
import * as Transaction from "../transaction/Transaction.js"
import * as Evidence from "./Evidence.js"
import * as Header from "./Header.js"
import * as Heartbeat from "./Heartbeat.js"

export interface Body {
  readonly transactions: ReadonlyArray<Transaction.Transaction>
  readonly evidence: ReadonlyArray<Evidence.Evidence>
  readonly heartbeats: ReadonlyArray<Heartbeat.Heartbeat>
}

export interface Vertex {
  readonly header: Header.Header
  readonly body: Body
  /** The vertex on the wire: signed header, then body. */
  readonly encoded: Uint8Array
}

/** The bytes of an alleged vertex, not checked in any way. */
export type Encoded = Pick<Vertex, "encoded">

export const emptyBody: Body = { transactions: [], evidence: [], heartbeats: [] }

/** The size of the transaction count before the first transaction. */
const COUNT_BYTES = 2

const writeBody = (writer: Binary.Writer, body: Body): void => {
  writer
    .list16(body.transactions, (transaction) => writer.raw(transaction.encoded))
    .list8(body.evidence, (evidence) => Evidence.write(writer, evidence))
    .list8(body.heartbeats, (heartbeat) => Heartbeat.write(writer, heartbeat))
}

const readBody = (networkId: NetworkId, reader: Binary.Reader): Body => ({
  transactions: reader.list16(Limits.VERTEX_TRANSACTIONS, () => Transaction.read(networkId, reader)),
  evidence: reader.list8(Limits.VERTEX_EVIDENCE, () => Evidence.read(reader)),
  heartbeats: reader.list8(Limits.VERTEX_HEARTBEATS, () => Heartbeat.read(reader)),
})

const hashOfBody = (encodedBody: Uint8Array): Hash.Hash => Hash.of("udg/body", encodedBody)

/** H("udg/body", encoded body): the hash in the header. */
export const bodyHash = (body: Body): Hash.Hash => hashOfBody(Binary.encode((writer) => writeBody(writer, body)))

/** Makes and signs a vertex. The caller must respect the limits, so that `decode` accepts the result. */
export const sign = (content: Omit<Header.Content, "publicKey" | "bodyHash">, body: Body, key: Signer): Vertex => {
  const encodedBody = Binary.encode((writer) => writeBody(writer, body))
  return withEncodedBody(Header.sign({ ...content, bodyHash: hashOfBody(encodedBody) }, key), body, encodedBody)
}

/** The vertex before its signature: see `Header.unsigned`. */
export const unsigned = (content: Omit<Header.Content, "bodyHash">, body: Body): Vertex => {
  const encodedBody = Binary.encode((writer) => writeBody(writer, body))
  return withEncodedBody(Header.unsigned({ ...content, bodyHash: hashOfBody(encodedBody) }), body, encodedBody)
}

export const withSignature = ({ header, body, encoded }: Vertex, signature: Signature): Vertex =>
  withEncodedBody({ ...header, signature }, body, encoded.subarray(Header.lengthOf(header)))

export const make = (header: Header.Header, body: Body): Vertex =>
  withEncodedBody(
    header,
    body,
    Binary.encode((writer) => writeBody(writer, body)),
  )

const withEncodedBody = (header: Header.Header, body: Body, encodedBody: Uint8Array): Vertex => {
  const encoded = Binary.encode((writer) => {
    Header.write(writer, header)
    writer.raw(encodedBody)
  })
  return { header, body, encoded }
}

/** Decodes only the header, so that a caller can judge it before reading the body. */
export const decodeHeader = (bytes: Uint8Array): Either.Either<Header.Header, Binary.MalformedBytes> => {
  const reader = new Binary.Reader(bytes)
  reader.require(bytes.length <= Limits.VERTEX_BYTES, `${bytes.length} bytes, at most ${Limits.VERTEX_BYTES} allowed`)
  const header = Header.read(reader)
  const { failure } = reader
  return failure === undefined
    ? Either.right(header)
    : Either.left(new Binary.MalformedBytes({ what: "vertex", ...failure }))
}

/** Decodes the rest of a vertex after `decodeHeader`. The vertex keeps `bytes`, so pass an unshared buffer. */
export const open = (
  networkId: NetworkId,
  header: Header.Header,
  bytes: Uint8Array,
): Either.Either<Vertex, Binary.MalformedBytes> => {
  const encodedBody = bytes.subarray(Header.lengthOf(header))
  return Either.map(
    Binary.decode("vertex body", encodedBody, (reader) => {
      const body = readBody(networkId, reader)
      const hash = reader.failure === undefined ? hashOfBody(encodedBody) : header.bodyHash
      reader.require(hash === header.bodyHash, "the body is not the one the header commits to")
      return body
    }),
    (body) => ({ header, body, encoded: bytes }),
  )
}

/** Where the encoding of a vertex contains its transactions, one after the other. */
export const transactionsIn = ({ header, body }: Vertex): { readonly at: number; readonly size: number } => ({
  at: Header.lengthOf(header) + COUNT_BYTES,
  size: body.transactions.reduce((size, { encoded }) => size + encoded.length, 0),
})

/** The maximum number of bytes that `decodeHead` needs. */
export const HEAD_BYTES = 512 + Header.MAX_PARENTS * 60

/** The part before the transactions, enough to draw the DAG. For a vertex that was accepted before. */
export const decodeHead = (
  bytes: Uint8Array,
): Either.Either<{ readonly header: Header.Header; readonly transactionCount: number }, Binary.MalformedBytes> => {
  const reader = new Binary.Reader(bytes)
  const header = Header.read(reader)
  const transactionCount = reader.u16()
  const { failure } = reader
  return failure === undefined
    ? Either.right({ header, transactionCount })
    : Either.left(new Binary.MalformedBytes({ what: "vertex", ...failure }))
}

/** The vertex keeps `bytes`, so pass an unshared buffer. */
export const decode = (networkId: NetworkId, bytes: Uint8Array): Either.Either<Vertex, Binary.MalformedBytes> =>
  Either.flatMap(decodeHeader(bytes), (header) => open(networkId, header, bytes))
