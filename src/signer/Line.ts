/**
 * The protocol between a node and its signer, inside the encryption and after both have proven their keys: frames with
 * a length prefix. The node opens with its network, the signer answers with its validator's keys for this node, and then
 * answers each statement. There are two keys while the validator changes its key. Between statements the node tells
 * where a key has signed, which a signer set back to an older disk does not know.
 */
import { Either } from "effect"
import * as Binary from "../protocol/encoding/Binary.js"
import * as Hash from "../protocol/identity/Hash.js"
import * as Keys from "../protocol/identity/Keys.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Statement from "./Statement.js"

export const VERSION = 3

const HEAD_BYTES = 4
/** The request's number and key, before the statement. */
const ASK_BYTES = 4 + Keys.PUBLIC_KEY_BYTES
const MAX_FRAME_BYTES = ASK_BYTES + Statement.MAX_BYTES
const MAX_KEYS = 64
const REFUSAL_BYTES = 255

export interface Open {
  readonly version: number
  readonly genesisHash: Hash.Hash
}

/** The validator's keys for this node, or why there are none. */
export type Opened = Either.Either<ReadonlyArray<Keys.PublicKey>, string>

export interface Ask {
  /** Chosen by the node, never 0, and repeated in the answer. */
  readonly id: number
  readonly publicKey: Keys.PublicKey
  readonly bytes: Uint8Array
}

/** The node's word that the key has signed a vertex here. Sent with the number 0; it has no answer. */
export interface Told {
  readonly publicKey: Keys.PublicKey
  readonly place: Statement.Place
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

const writeEither = <A>(
  writer: Binary.Writer,
  value: Either.Either<A, string>,
  write: (writer: Binary.Writer, value: A) => void,
): void => {
  writer.boolean(Either.isRight(value))
  if (Either.isRight(value)) write(writer, value.right)
  else writer.text8(clipped(value.left))
}

const readEither = <A>(reader: Binary.Reader, read: (reader: Binary.Reader) => A): Either.Either<A, string> =>
  reader.boolean() ? Either.right(read(reader)) : Either.left(reader.text8(REFUSAL_BYTES))

export const opened = Binary.codec<Opened>(
  "answer of a signer to an opening",
  (writer, value) =>
    writeEither(writer, value, (to, keys) => {
      to.u16(keys.length)
      for (const key of keys) to.hex(key)
    }),
  (reader) =>
    readEither(reader, (from) =>
      Array.from({ length: Math.min(MAX_KEYS, from.u16()) }, () => Keys.readPublicKey(from)),
    ),
)

const TOLD = 0

/** What a node says after the opening. */
export const said = Binary.codec<Ask | Told>(
  "statement to be signed",
  (writer, said) => {
    if ("place" in said) writer.u32(TOLD).hex(said.publicKey).u64(said.place.epoch).u64(said.place.round)
    else writer.u32(said.id).hex(said.publicKey).raw(said.bytes)
  },
  (reader) => {
    const id = reader.u32()
    const publicKey = Keys.readPublicKey(reader)
    if (id !== TOLD) return { id, publicKey, bytes: reader.raw(reader.remaining) }
    return { publicKey, place: { epoch: Natural.epoch(reader.u64()), round: Natural.round(reader.u64()) } }
  },
)

export const answer = Binary.codec<Answer>(
  "answer of a signer",
  (writer, { id, result }) => {
    writer.u32(id)
    writeEither(writer, result, (to, signature) => to.hex(signature))
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
