/**
 * Proof of the record under one key of the state, or of its absence: the whole leaf at the end of the key's path, and
 * the siblings along the path. A wallet verifies it against the state root of a checkpoint signed by a quorum. For one
 * root and key exactly one proof verifies, and it has exactly one encoding.
 */
import { Data, Either, Option, Schema } from "effect"
import { fromHex } from "#crypto"
import * as Binary from "../encoding/Binary.js"
import * as Hex from "../encoding/Hex.js"
import * as Hash from "../identity/Hash.js"
import * as Natural from "../numbers/Natural.js"
import * as StateTree from "./StateTree.js"

export interface StateProof {
  /** From the root down. */
  readonly siblings: ReadonlyArray<StateTree.Subroot>
  /** In the order of their keys. */
  readonly leaf: ReadonlyArray<StateTree.Entry>
}

export class InvalidProof extends Data.TaggedError("InvalidProof")<{
  readonly root: Hash.Hash
  readonly key: Hash.Hash
  readonly reason: string
}> {
  override get message(): string {
    return `no proof of ${this.key} under ${this.root}: ${this.reason}`
  }
}

/** Only one spelling of a key: a record found by its bytes must not be missed because of upper-case letters. */
const isKey = (key: string): boolean => Hex.isHex(key, Hash.BYTES) && key === key.toLowerCase()

const refuseLeaf = ({ siblings, leaf }: StateProof, path: Uint8Array): string | undefined => {
  if (siblings.length > StateTree.MAX_DEPTH) return `a path of ${siblings.length}, at most ${StateTree.MAX_DEPTH}`
  if (leaf.length > StateTree.LEAF_RECORDS) return `a leaf of ${leaf.length} records`
  if (!leaf.every(({ key }) => isKey(key))) return "a key that is not 64 lower-case hex characters"
  if (leaf.some(({ value }) => value.length > StateTree.VALUE_BYTES)) return "a value above the limit"
  if (!Binary.isStrictlyAscending(leaf, ({ key }) => key)) return "records not in the order of their keys"
  return leaf.every(({ key }) => StateTree.sharesPath(fromHex(key), path, siblings.length))
    ? undefined
    : "a record that does not lie under this path"
}

/** The value under `key` in the state with this root; none if the proof shows its absence. */
export const verify = (
  root: Hash.Hash,
  key: Hash.Hash,
  proof: StateProof,
): Either.Either<Option.Option<Uint8Array>, InvalidProof> => {
  const refuse = (reason: string) => Either.left(new InvalidProof({ root, key, reason }))
  if (!isKey(key)) return refuse("a key that is not 64 lower-case hex characters")
  const path = fromHex(key)
  const reason = refuseLeaf(proof, path)
  if (reason !== undefined) return refuse(reason)
  const bottom = { hash: StateTree.leafHash(StateTree.encodeLeaf(proof.leaf)), records: proof.leaf.length }
  const top = StateTree.rootOver(bottom, path, proof.siblings)
  if (Either.isLeft(top)) return refuse(top.left)
  if (top.right.hash !== root) return refuse(`it leads to the root ${top.right.hash}`)
  const record = proof.leaf.find((record) => record.key === key)
  return Either.right(record === undefined ? Option.none() : Option.some(record.value))
}

export const encode = ({ siblings, leaf }: StateProof): Uint8Array =>
  Binary.encode((writer) => {
    writer.list8(siblings, (sibling) => StateTree.writeSubroot(writer, sibling)).raw(StateTree.encodeLeaf(leaf))
  })

/** The values are views of the input. */
export const decode = (bytes: Uint8Array): Either.Either<StateProof, Binary.MalformedBytes> =>
  Binary.decode("state proof", bytes, (reader) => ({
    siblings: StateTree.readSiblings(reader),
    leaf: StateTree.readLeaf(reader),
  }))

const Subroot = Schema.Struct({
  hash: Hash.schema,
  records: Natural.count("how many records lie under it"),
})

const Entry = Schema.Struct({
  key: Hash.schema,
  value: Schema.String.pipe(
    Schema.maxLength(StateTree.VALUE_BYTES * 2, { description: "kind, key and content of the record, in hexadecimal" }),
    Schema.compose(Schema.Uint8ArrayFromHex),
  ),
})

/** The proof as JSON: hashes, keys and values in hexadecimal. */
export const schema = Schema.Struct({
  siblings: Schema.Array(Subroot).pipe(Schema.maxItems(StateTree.MAX_DEPTH)).annotations({
    description: "the subtrees beside the path, from the root down",
  }),
  leaf: Schema.Array(Entry).pipe(Schema.maxItems(StateTree.LEAF_RECORDS)).annotations({
    description: "all records of the leaf at the end of the path, in the order of their keys",
  }),
}).annotations({ identifier: "StateProof", description: "a proof of what the state holds under one key" })
