/**
 * A piece of the state for a joining node: all records below one position, and the siblings along the path to it, which
 * make it verifiable against the root on its own. The nodes below follow from the records and are not sent.
 */
import { Data, Either } from "effect"
import * as Binary from "../../protocol/encoding/Binary.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as StateTree from "../../protocol/state/StateTree.js"
import { Leaf } from "./Leaf.js"
import * as Position from "./Position.js"
import * as Span from "./Span.js"
import * as TrieNode from "./TrieNode.js"

export interface Subtree {
  readonly position: Position.Position
  /** From the root down, one for each bit of the position. */
  readonly siblings: ReadonlyArray<StateTree.Subroot>
  /** In the order of keys. */
  readonly records: ReadonlyArray<Span.Span>
}

/** The maximum length of an encoded subtree, also for readers. A leaf, the smallest piece, takes at most about half. */
export const MAX_BYTES = 524_288

export class ForeignSubtree extends Data.TaggedError("ForeignSubtree")<{
  readonly root: Hash
  readonly position: string
  readonly reason: string
}> {
  override get message(): string {
    return `the subtree at ${this.position} does not belong under ${this.root}: ${this.reason}`
  }
}

export const entriesOf = ({ records }: Subtree): ReadonlyArray<StateTree.Entry> => records.map(Span.toEntry)

/** Verifies that exactly these records lie at the position in the state with this root, and returns their subtree. */
export const check = (
  root: Hash,
  { position, siblings, records }: Subtree,
): Either.Either<TrieNode.Node, ForeignSubtree> => {
  const node = TrieNode.build(records, 0, records.length, position.depth)
  const top = StateTree.rootOver(node, position.path, siblings)
  const reason = Either.isLeft(top) ? top.left : `it leads to the root ${top.right.hash}`
  return Either.isRight(top) && top.right.hash === root
    ? Either.right(node)
    : Either.left(new ForeignSubtree({ root, position: Position.format(position), reason }))
}

export const encode = ({ position, siblings, records }: Subtree): Uint8Array =>
  Binary.encode((writer) => {
    Position.write(writer, position)
    for (const sibling of siblings) StateTree.writeSubroot(writer, sibling)
    writer.u32(records.length).raw(Span.join(records, 0, records.length, 0))
  })

const HEAD_BYTES = 1 + 32 + 4
const SIBLING_BYTES = 32 + 8

const sizeAt = (depth: number, node: TrieNode.Node): number => HEAD_BYTES + depth * SIBLING_BYTES + node.bytes

const readSpan = (reader: Binary.Reader, bytes: Uint8Array): Span.Span => {
  const start = reader.offset
  StateTree.readEntry(reader)
  return { bytes, start, end: reader.offset }
}

const isAscending = (records: ReadonlyArray<Span.Span>): boolean =>
  records.every((record, i) => {
    const before = records[i - 1]
    return before === undefined || Span.compareKeys(before.bytes, before.start, record.bytes, record.start) < 0
  })

const liesBelow = ({ depth, path }: Position.Position, { bytes, start, end }: Span.Span): boolean =>
  StateTree.sharesPath(bytes.subarray(start, end), path, depth)

/** The records are views of the input. */
export const decode = (bytes: Uint8Array): Either.Either<Subtree, Binary.MalformedBytes> =>
  Binary.decode("subtree", bytes, (reader) => {
    reader.require(bytes.length <= MAX_BYTES, `${bytes.length} bytes, at most ${MAX_BYTES} allowed`)
    const position = Position.read(reader)
    const siblings = reader.list(position.depth, StateTree.MAX_DEPTH, () => StateTree.readSubroot(reader))
    const records = reader.list(reader.u32(), bytes.length, () => readSpan(reader, bytes))
    reader.require(isAscending(records), "records not in the order of their keys")
    // Since records are sorted, everything between two records of one path is on that path too.
    const ends = [records.at(0), records.at(-1)]
    reader.require(
      ends.every((record) => record === undefined || liesBelow(position, record)),
      "a record does not lie below the position",
    )
    return { position, siblings, records }
  })

/** A node on the way down, with the data that its subtree needs. */
interface Place {
  readonly node: TrieNode.Node
  readonly position: Position.Position
  readonly siblings: ReadonlyArray<StateTree.Subroot>
}

const subroot = ({ hash, records }: TrieNode.Node): StateTree.Subroot => ({ hash, records })

const sides = ({ node, position, siblings }: Place): readonly [Place, Place] | undefined =>
  node instanceof Leaf
    ? undefined
    : [
        { node: node.left, position: Position.left(position), siblings: [...siblings, subroot(node.right)] },
        { node: node.right, position: Position.right(position), siblings: [...siblings, subroot(node.left)] },
      ]

const toSubtree = ({ node, position, siblings }: Place): Subtree => ({
  position,
  siblings,
  records: TrieNode.spansOf(node),
})

/**
 * The pieces below a place, in the order of keys. Each is the largest subtree whose encoding has at most `maxBytes`, or
 * a leaf. Empty sides are left out, since a sibling without records shows them.
 */
function* pieces(top: Place, maxBytes: number): Generator<Subtree, undefined, undefined> {
  const limit = Math.min(maxBytes, MAX_BYTES)
  const ahead: Array<Place> = [top]
  for (let place = ahead.pop(); place !== undefined; place = ahead.pop()) {
    const below = sizeAt(place.position.depth, place.node) <= limit ? undefined : sides(place)
    if (below === undefined) yield toSubtree(place)
    else for (const side of below.toReversed()) if (side.node.records > 0) ahead.push(side)
  }
  return undefined
}

export const all = (trie: TrieNode.Node, maxBytes: number): Generator<Subtree, undefined, undefined> =>
  pieces({ node: trie, position: Position.ROOT, siblings: [] }, maxBytes)

/** The first piece at a position; undefined if this trie has no node there. */
export const at = (trie: TrieNode.Node, { depth, path }: Position.Position, maxBytes: number): Subtree | undefined => {
  let place: Place = { node: trie, position: Position.ROOT, siblings: [] }
  while (place.position.depth < depth) {
    const below = sides(place)
    if (below === undefined) return undefined
    place = StateTree.turnsRight(path, place.position.depth) ? below[1] : below[0]
  }
  const { value } = pieces(place, maxBytes).next()
  return value
}
