/**
 * The protocol between a node and its signer, inside the encryption and after both have proven their keys: frames with
 * a length prefix. The node opens with its network, the signer answers with its validator's key for this node, and then
 * answers each statement.
 */
import { Either } from "effect"
import * as Binary from "../protocol/encoding/Binary.js"
import * as Hash from "../protocol/identity/Hash.js"
import * as Keys from "../protocol/identity/Keys.js"
import * as Statement from "./Statement.js"

export const VERSION = 1

const HEAD_BYTES = 4
/** The request's number, before the statement. */
const ID_BYTES = 4
const MAX_FRAME_BYTES = ID_BYTES + Statement.MAX_BYTES
const REFUSAL_BYTES = 255

export interface Open {
  readonly version: number
  readonly genesisHash: Hash.Hash
}

/** The validator's key for this node, or why there is none. */
export type Opened = Either.Either<Keys.PublicKey, string>

export interface Ask {
  /** Chosen by the node and repeated in the answer. */
  readonly id: number
  readonly bytes: Uint8Array
}

export interface Answer {
  readonly id: number
  readonly result: Either.Either<Keys.Signature, string>
}

/** Shortens a text, because another version can have written it. */
const clipped = (text: string): string => text.slice(0, REFUSAL_BYTES)

export const open = Binary.codec<Open>(
  "opening of a signer's line",
  (writer, { version, genesisHash }) => writer.u16(version).hex(genesisHash),
  (reader) => ({ version: reader.u16(), genesisHash: Hash.read(reader) }),
)

const writeEither = (writer: Binary.Writer, value: Either.Either<string, string>): void => {
  writer.boolean(Either.isRight(value))
  if (Either.isRight(value)) writer.hex(value.right)
  else writer.text8(clipped(value.left))
}

const readEither = <A>(reader: Binary.Reader, read: (reader: Binary.Reader) => A): Either.Either<A, string> =>
  reader.boolean() ? Either.right(read(reader)) : Either.left(reader.text8(REFUSAL_BYTES))

export const opened = Binary.codec<Opened>("answer of a signer to an opening", writeEither, (reader) =>
  readEither(reader, Keys.readPublicKey),
)

export const ask = Binary.codec<Ask>(
  "statement to be signed",
  (writer, { id, bytes }) => writer.u32(id).raw(bytes),
  (reader) => ({ id: reader.u32(), bytes: reader.raw(reader.remaining) }),
)

export const answer = Binary.codec<Answer>(
  "answer of a signer",
  (writer, { id, result }) => {
    writer.u32(id)
    writeEither(writer, result)
  },
  (reader) => ({ id: reader.u32(), result: readEither(reader, Keys.readSignature) }),
)

export const frame = (bytes: Uint8Array): Uint8Array => Binary.encode((writer) => writer.u32(bytes.length).raw(bytes))

/** The other side sent something that no program of this version sends. */
export class BrokenLine extends Error {}

/** Splits a stream into frames. It holds at most one frame and one piece. */
export async function* framesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let held: Uint8Array = new Uint8Array(0)
  for await (const piece of pieces) {
    held = held.length === 0 ? piece : Binary.encode((writer) => writer.raw(held).raw(piece))
    for (;;) {
      if (held.length < HEAD_BYTES) break
      const length = new DataView(held.buffer, held.byteOffset, HEAD_BYTES).getUint32(0, true)
      if (length > MAX_FRAME_BYTES) throw new BrokenLine(`a frame of ${length} bytes, at most ${MAX_FRAME_BYTES}`)
      if (held.length < HEAD_BYTES + length) break
      yield held.subarray(HEAD_BYTES, HEAD_BYTES + length)
      held = held.subarray(HEAD_BYTES + length)
    }
  }
}
