/**
 * The structure of the authenticated state and its hashing: records under key hashes, leaves of up to 32 records,
 * branches above. The shape depends on the records alone: a subtree is a leaf if and only if it holds at most 32.
 * `docs/state-trie.md` specifies every byte.
 */
import { Either } from "effect"
import { sha256Hex } from "#crypto"
import * as HexDigits from "../crypto/HexDigits.js"
import * as Binary from "../encoding/Binary.js"
import * as Hash from "../identity/Hash.js"

export const LEAF_RECORDS = 32
/** Bounds the size of a leaf, and thus of every proof and every transferred subtree. */
export const VALUE_BYTES = 8_192
export const KEY_BITS = 256
/** A branch has more than 32 keys, which need six bits to differ, so branches end at depth 250 and leaves at 251. */
export const MAX_DEPTH = KEY_BITS - 5

/** Key hash and length before each value. */
export const RECORD_HEADER_BYTES = Hash.BYTES + 2

/** A record as the trie sees it: bytes under the hash of their key. `StateRecord` defines the bytes. */
export interface Entry {
  readonly key: Hash.Hash
  readonly value: Uint8Array
}

/** A subtree as its parent sees it. */
export interface Subroot {
  readonly hash: Hash.Hash
  readonly records: number
}

/** The turn a key takes below `depth` bits: false is left. */
export const turnsRight = (key: Uint8Array, depth: number): boolean =>
  (((key[depth >>> 3] ?? 0) >>> (7 - (depth & 7))) & 1) === 1

/** Whether two keys share their first `bits` bits. */
export const sharesPath = (a: Uint8Array, b: Uint8Array, bits: number): boolean => {
  const whole = bits >>> 3
  for (let i = 0; i < whole; i++) if (a[i] !== b[i]) return false
  return ((((a[whole] ?? 0) ^ (b[whole] ?? 0)) << (bits & 7)) & 0xff00) === 0
}

/** H("udg/leaf", u8 count ‖ count × (key ‖ u16 length ‖ value)), the records in the order of their keys. */
export const leafHash = (encodedLeaf: Uint8Array): Hash.Hash => Hash.of("udg/leaf", encodedLeaf)

/** The hash input, shared by all calls: a buffer per branch would double the cost of hashing it. */
const branch = Hash.tagged(Binary.utf8("udg/node\0"), [new Uint8Array(8 + 2 * Hash.BYTES)])
const COUNT_AT = branch.length - (8 + 2 * Hash.BYTES)
const LEFT_AT = COUNT_AT + 8
const RIGHT_AT = LEFT_AT + Hash.BYTES
const branchCount = new DataView(branch.buffer, branch.byteOffset + COUNT_AT)

/** H("udg/node", u64 records ‖ left ‖ right). */
export const branchHash = (records: number, left: Hash.Hash, right: Hash.Hash): Hash.Hash => {
  const low = records >>> 0
  branchCount.setUint32(0, low, true)
  // Exact: a multiple of 2^32 times a power of two.
  branchCount.setUint32(4, (records - low) * 2 ** -32, true)
  HexDigits.write(branch, LEFT_AT, left)
  HexDigits.write(branch, RIGHT_AT, right)
  return sha256Hex(branch) as Hash.Hash
}

/** The leaf without records: an empty state, or the side of a branch to which no record turns. */
export const EMPTY: Subroot = { hash: leafHash(Uint8Array.of(0)), records: 0 }

/** The root over a subtree at the end of `key`'s path with these siblings, or why no state has such a path. */
export const rootOver = (
  bottom: Subroot,
  key: Uint8Array,
  siblings: ReadonlyArray<Subroot>,
): Either.Either<Subroot, string> => {
  if (siblings.length > MAX_DEPTH) return Either.left(`a path of ${siblings.length} siblings, at most ${MAX_DEPTH}`)
  let { hash, records } = bottom
  for (let depth = siblings.length - 1; depth >= 0; depth--) {
    const sibling = siblings[depth] ?? EMPTY
    records += sibling.records
    const refused = refuseBranch(records, sibling)
    if (refused !== undefined) return Either.left(refused)
    hash = turnsRight(key, depth) ? branchHash(records, sibling.hash, hash) : branchHash(records, hash, sibling.hash)
  }
  return Either.right({ hash, records })
}

const refuseBranch = (records: number, sibling: Subroot): string | undefined => {
  if (!Number.isSafeInteger(records) || sibling.records < 0) return "record counts beyond 2^53 - 1"
  if (records <= LEAF_RECORDS) return `a branch over ${records} records, which are one leaf`
  if (sibling.records === 0 && sibling.hash !== EMPTY.hash)
    return "a sibling without records that is not the empty leaf"
  return undefined
}

const writeRecords = (writer: Binary.Writer, records: ReadonlyArray<Entry>): void => {
  for (const { key, value } of records) writer.hex(key).u16(value.length).raw(value)
}

export const encodeLeaf = (records: ReadonlyArray<Entry>): Uint8Array =>
  Binary.encode((writer) => writeRecords(writer.u8(records.length), records))

/** The value is a view of the input. */
export const readEntry = (reader: Binary.Reader): Entry => {
  const key = Hash.read(reader)
  const length = reader.u16()
  reader.require(length <= VALUE_BYTES, `value of ${length} bytes, at most ${VALUE_BYTES} allowed`)
  return { key, value: reader.raw(length) }
}

/** The values are views of the input. */
export const readLeaf = (reader: Binary.Reader): ReadonlyArray<Entry> => {
  const records = reader.list8(LEAF_RECORDS, () => readEntry(reader))
  reader.require(
    Binary.isStrictlyAscending(records, ({ key }) => key),
    "records not in the order of their keys",
  )
  return records
}

export const writeSubroot = (writer: Binary.Writer, { hash, records }: Subroot): void => {
  writer.hex(hash).u64(records)
}

export const readSubroot = (reader: Binary.Reader): Subroot => ({ hash: Hash.read(reader), records: reader.u64() })

/** The siblings along a path, from the root down. */
export const readSiblings = (reader: Binary.Reader): ReadonlyArray<Subroot> =>
  reader.list8(MAX_DEPTH, () => readSubroot(reader))
