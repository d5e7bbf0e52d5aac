/**
 * The immutable nodes of the trie, built from sorted records or joined from two sides. Both ways yield the canonical
 * shape, with a leaf for every 32 records or fewer, so the shape depends only on the content.
 */
import type { Hash } from "../../protocol/identity/Hash.js"
import * as StateTree from "../../protocol/state/StateTree.js"
import { Leaf } from "./Leaf.js"
import * as Span from "./Span.js"

export type Node = Leaf | Branch

/** More than 32 records, separated by the next bit of their keys. Hashed at once, so no later read is slow. */
export class Branch {
  readonly left: Node
  readonly right: Node
  readonly records: number
  readonly bytes: number
  readonly hash: Hash

  constructor(left: Node, right: Node) {
    this.left = left
    this.right = right
    this.records = left.records + right.records
    this.bytes = left.bytes + right.bytes
    if (this.records <= StateTree.LEAF_RECORDS) throw new RangeError(`a branch over ${this.records} records`)
    this.hash = StateTree.branchHash(this.records, left.hash, right.hash)
  }
}

/** The subtree of the spans from `lo` to `hi`: sorted, distinct, equal in their first `depth` bits. */
export const build = (spans: ReadonlyArray<Span.Span>, lo: number, hi: number, depth: number): Node => {
  if (hi - lo <= StateTree.LEAF_RECORDS) return Leaf.of(spans, lo, hi)
  const middle = Span.boundary(spans, lo, hi, depth)
  return new Branch(build(spans, lo, middle, depth + 1), build(spans, middle, hi, depth + 1))
}

const collect = (node: Node, spans: Array<Span.Span>): void => {
  if (node instanceof Leaf) {
    for (const span of node.spans()) spans.push(span)
    return
  }
  collect(node.left, spans)
  collect(node.right, spans)
}

export const spansOf = (node: Node): ReadonlyArray<Span.Span> => {
  const spans: Array<Span.Span> = []
  collect(node, spans)
  return spans
}

export const join = (left: Node, right: Node): Node => {
  const records = left.records + right.records
  if (records > StateTree.LEAF_RECORDS) return new Branch(left, right)
  return Leaf.of([...spansOf(left), ...spansOf(right)], 0, records)
}

/** The two sides below `depth` bits, even of a leaf. */
export const sidesOf = (node: Node, depth: number): readonly [Node, Node] => {
  if (node instanceof Branch) return [node.left, node.right]
  if (node === Leaf.EMPTY) return [node, node]
  const spans = node.spans()
  const middle = Span.boundary(spans, 0, spans.length, depth)
  return [Leaf.of(spans, 0, middle), Leaf.of(spans, middle, spans.length)]
}
