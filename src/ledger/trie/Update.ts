/**
 * Applies a batch of changes to a trie, in slices. The job splits the changes by the bits of their keys on its way
 * down, rewrites the leaves it meets, and hashes new nodes on its way up. Parts without changes are shared with the
 * original trie, which stays as it was. The caller supplies the clock, which is checked between pieces of bounded work.
 */
import * as StateTree from "../../protocol/state/StateTree.js"
import { Batch, type Change, SORTED, SORTED_BITS } from "./Batch.js"
import { Leaf, type Replacement } from "./Leaf.js"
import * as Span from "./Span.js"
import * as TrieNode from "./TrieNode.js"

/** Up to this many changes are applied in one go: well under a millisecond even with millions of records. */
const DIRECT = 64
/** Changes added before the clock is checked. */
const TAKEN = 256

type Work<A> = Generator<undefined, A, undefined>

/** The records of a leaf after the changes from `lo` to `hi`; undefined if they change nothing. */
const merge = (leaf: Leaf, batch: Batch, lo: number, hi: number): ReadonlyArray<Span.Span> | undefined => {
  const bytes = leaf.encoded
  const spans: Array<Span.Span> = []
  let start = 1
  let isChanged = false
  const keep = (): void => {
    const end = Span.endOf(bytes, start)
    spans.push({ bytes, start, end })
    start = end
  }
  for (let i = lo; i < hi; i++) {
    const change = batch.spanAt(i)
    let order = -1
    while (start < bytes.length) {
      order = Span.compareKeys(bytes, start, change.bytes, change.start)
      if (order >= 0) break
      keep()
    }
    const isPresent = start < bytes.length && order === 0
    const isRemoval = batch.isRemoval(i)
    if (isPresent && !isRemoval && Span.isEqual(change, { bytes, start, end: Span.endOf(bytes, start) })) {
      keep()
      continue
    }
    if (isPresent) start = Span.endOf(bytes, start)
    if (!isRemoval) spans.push(change)
    isChanged ||= isPresent || !isRemoval
  }
  while (start < bytes.length) keep()
  return isChanged ? spans : undefined
}

/**
 * The bytes to overwrite in a leaf, if all changes only give existing records other values of the same length, as
 * nearly all changes of accounts do. The leaf then need not be taken apart. Undefined otherwise.
 */
const overwriting = (leaf: Leaf, batch: Batch, lo: number, hi: number): ReadonlyArray<Replacement> | undefined => {
  const bytes = leaf.encoded
  const replacements: Array<Replacement> = []
  let start = 1
  for (let i = lo; i < hi; i++) {
    const by = batch.spanAt(i)
    let order = -1
    while (start < bytes.length) {
      order = Span.compareKeys(bytes, start, by.bytes, by.start)
      if (order >= 0) break
      start = Span.endOf(bytes, start)
    }
    const end = order === 0 ? Span.endOf(bytes, start) : start
    if (end - start !== by.end - by.start || batch.isRemoval(i)) return undefined
    if (!Span.isEqual(by, { bytes, start, end })) replacements.push({ start, by })
    start = end
  }
  return replacements
}

/** A leaf after the changes from `lo` to `hi`; the same leaf if they change nothing. */
const changedLeaf = (leaf: Leaf, batch: Batch, lo: number, hi: number, depth: number): TrieNode.Node => {
  const replacements = overwriting(leaf, batch, lo, hi)
  if (replacements !== undefined) return replacements.length === 0 ? leaf : leaf.overwritten(replacements)
  const spans = merge(leaf, batch, lo, hi)
  return spans === undefined ? leaf : TrieNode.build(spans, 0, spans.length, depth)
}

const joinAfter = (before: TrieNode.Node, left: TrieNode.Node, right: TrieNode.Node): TrieNode.Node =>
  before instanceof TrieNode.Branch && before.left === left && before.right === right
    ? before
    : TrieNode.join(left, right)

const firstRight = (batch: Batch, lo: number, hi: number, depth: number): number => {
  let at = lo
  while (at < hi && !batch.turnsRight(at, depth)) at++
  return at
}

const applyDirectly = (node: TrieNode.Node, batch: Batch, lo: number, hi: number, depth: number): TrieNode.Node => {
  if (lo === hi) return node
  if (node instanceof Leaf) return changedLeaf(node, batch, lo, hi, depth)
  const middle = firstRight(batch, lo, hi, depth)
  const left = applyDirectly(node.left, batch, lo, middle, depth + 1)
  return joinAfter(node, left, applyDirectly(node.right, batch, middle, hi, depth + 1))
}

function* apply(
  node: TrieNode.Node,
  batch: Batch,
  lo: number,
  hi: number,
  depth: number,
  isSortedAbove: boolean,
): Work<TrieNode.Node> {
  if (lo === hi) return node
  yield
  if (hi - lo <= DIRECT) return applyDirectly(node, batch, lo, batch.sortChanges(lo, hi), depth)
  if (depth === StateTree.KEY_BITS) {
    batch.latestFirst(lo, hi)
    return applyDirectly(node, batch, lo, lo + 1, depth)
  }
  const isSorted = isSortedAbove || hi - lo <= SORTED
  if (isSorted && !isSortedAbove) batch.sort(lo, hi)
  const middle = isSorted && depth < SORTED_BITS ? batch.boundary(lo, hi, depth) : yield* batch.partition(lo, hi, depth)
  const [leftBefore, rightBefore] = TrieNode.sidesOf(node, depth)
  const left = yield* apply(leftBefore, batch, lo, middle, depth + 1, isSorted)
  const right = yield* apply(rightBefore, batch, middle, hi, depth + 1, isSorted)
  return joinAfter(node, left, right)
}

function* run(base: TrieNode.Node, changes: Iterable<Change>): Work<TrieNode.Node> {
  const batch = new Batch()
  for (const change of changes) {
    batch.add(change)
    if (batch.length % TAKEN === 0) yield
  }
  const updated = yield* apply(base, batch, 0, batch.length, 0, false)
  // The hash of a leaf that is the whole trie; below a branch it is already computed.
  updated.hash
  return updated
}

export class Update {
  readonly #work: Work<TrieNode.Node>
  #result: TrieNode.Node | undefined

  /** Changes are read as the job proceeds, so they can be lazy. Of two changes of one key the later wins. */
  constructor(base: TrieNode.Node, changes: Iterable<Change>) {
    this.#work = run(base, changes)
  }

  /** Works while `mayContinue`, which it checks before each further piece; returns the new trie once it is done. */
  step(mayContinue: () => boolean): TrieNode.Node | undefined {
    while (this.#result === undefined) {
      const { done, value } = this.#work.next()
      if (done === true) this.#result = value
      else if (!mayContinue()) break
    }
    return this.#result
  }
}
