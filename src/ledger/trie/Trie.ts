/**
 * The authenticated state: an immutable map from key hashes to values whose root hash depends only on its content.
 * `trie.hash` is the root, `trie.records` and `trie.bytes` its size. An update returns a new trie and leaves the old
 * one intact, so proofs and joining nodes can read the state of an earlier checkpoint during later commits.
 */
import { fromHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { StateProof } from "../../protocol/state/StateProof.js"
import * as StateTree from "../../protocol/state/StateTree.js"
import type { Change } from "./Batch.js"
import { Leaf } from "./Leaf.js"
import * as Span from "./Span.js"
import type { Node } from "./TrieNode.js"
import { Update } from "./Update.js"

export type Trie = Node
export type { Change, Update }

export const empty: Trie = Leaf.EMPTY

/** Applies the changes as a job in slices. */
export const update = (trie: Trie, changes: Iterable<Change>): Update => new Update(trie, changes)

/** Applies the changes at once. */
export const apply = (trie: Trie, changes: Iterable<Change>): Trie => {
  const job = update(trie, changes)
  for (;;) {
    const updated = job.step(() => true)
    if (updated !== undefined) return updated
  }
}

const leafAt = (trie: Trie, key: Uint8Array): Leaf => {
  let node = trie
  for (let depth = 0; !(node instanceof Leaf); depth++) {
    node = StateTree.turnsRight(key, depth) ? node.right : node.left
  }
  return node
}

/** A copy of the value under `key`. */
export const get = (trie: Trie, key: Hash): Uint8Array | undefined => {
  const bytes = fromHex(key)
  const span = leafAt(trie, bytes).find(bytes)
  return span === undefined ? undefined : Span.copyValue(span)
}

/** The proof of the record under `key`, or of its absence. */
export const prove = (trie: Trie, key: Hash): StateProof => {
  const bytes = fromHex(key)
  const siblings: Array<StateTree.Subroot> = []
  let node = trie
  for (let depth = 0; !(node instanceof Leaf); depth++) {
    const isRight = StateTree.turnsRight(bytes, depth)
    const { hash, records } = isRight ? node.left : node.right
    siblings.push({ hash, records })
    node = isRight ? node.right : node.left
  }
  return { siblings, leaf: node.spans().map(Span.toEntry) }
}

/** All leaves in the order of keys, lazily. */
export function* leaves(trie: Trie): Generator<Leaf, undefined, undefined> {
  const ahead: Array<Node> = [trie]
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    if (node instanceof Leaf) yield node
    else ahead.push(node.right, node.left)
  }
  return undefined
}

/** All records in the order of keys, lazily. */
export function* entries(trie: Trie): Generator<StateTree.Entry, undefined, undefined> {
  for (const leaf of leaves(trie)) for (const span of leaf.spans()) yield Span.toEntry(span)
  return undefined
}
