/**
 * A record of the state as the trie holds it: kind ‖ key ‖ value. The trie itself knows only hashes of keys. With kind
 * and key beside the value, the receiver of a leaf knows what each record is, and can check that it is in its place.
 */
import type { Either } from "effect"
import * as Binary from "../encoding/Binary.js"
import type { Hash } from "../identity/Hash.js"
import * as StateKey from "./StateKey.js"

export interface StateRecord {
  readonly kind: StateKey.Kind
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export const placeOf = ({ kind, key }: StateRecord): Hash => StateKey.hash(kind, key)

export const encode = ({ kind, key, value }: StateRecord): Uint8Array =>
  Binary.encode((writer) => writer.u8(StateKey.KINDS[kind].byte).raw(key).raw(value))

const read = (reader: Binary.Reader): StateRecord => {
  const byte = reader.u8()
  const kind = StateKey.kindOf(byte)
  if (kind === undefined) {
    reader.fail(`record kind ${byte}`)
    return { kind: "Head", key: new Uint8Array(0), value: new Uint8Array(0) }
  }
  const key = reader.raw(StateKey.KINDS[kind].keyBytes)
  reader.require(StateKey.isKeyOf(kind, key), `a counter of 2^53 or more in the key of a record of kind ${kind}`)
  return { kind, key, value: reader.raw(reader.remaining) }
}

/** Key and value are views into `bytes`. The kind's codec decides whether the value is valid. */
export const decode = (bytes: Uint8Array): Either.Either<StateRecord, Binary.MalformedBytes> =>
  Binary.decode("state record", bytes, read)
