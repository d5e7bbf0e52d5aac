/**
 * A trie being assembled from subtrees that untrusted peers send, for a root that a quorum signed. Subtrees arrive in
 * any order, and each is verified on its own before it is kept. Siblings of a kept subtree are authentic too, so
 * position, hash and number of records of all missing parts are known. To survive a restart, store the accepted
 * encodings and accept them again.
 */
import { Data, Either } from "effect"
import type * as Binary from "../../protocol/encoding/Binary.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as StateTree from "../../protocol/state/StateTree.js"
import { Leaf } from "./Leaf.js"
import * as Position from "./Position.js"
import * as Subtree from "./Subtree.js"
import * as TrieNode from "./TrieNode.js"

/** A subtree sent twice, or overlapping one already held. Not the peer's fault if two were asked. */
export class AlreadyHeld extends Data.TaggedError("AlreadyHeld")<{ readonly position: string }> {
  override get message(): string {
    return `records at ${this.position} are held already`
  }
}

export interface Missing {
  readonly position: Position.Position
  /** Unknown for the root before the first subtree arrives. */
  readonly records: number | undefined
}

/** The known part of a subtree: all of it, only its hash, or a branch with parts on each side. */
type Part =
  | { readonly _tag: "Whole"; readonly node: TrieNode.Node }
  | { readonly _tag: "Gap"; readonly records: number | undefined }
  | { readonly _tag: "Fork"; readonly left: Part; readonly right: Part }

const whole = (node: TrieNode.Node): Part => ({ _tag: "Whole", node })

const unseen = ({ records }: StateTree.Subroot): Part => (records === 0 ? whole(Leaf.EMPTY) : { _tag: "Gap", records })

const meet = (left: Part, right: Part): Part =>
  left._tag === "Whole" && right._tag === "Whole"
    ? whole(new TrieNode.Branch(left.node, right.node))
    : { _tag: "Fork", left, right }

/** `part` with the verified subtree in its gap. */
const graft = (part: Part, subtree: Subtree.Subtree, node: TrieNode.Node, depth: number): Part => {
  const { position, siblings } = subtree
  if (depth === position.depth) return whole(node)
  const isRight = StateTree.turnsRight(position.path, depth)
  const beside = unseen(siblings[depth] ?? StateTree.EMPTY)
  const [left, right] = part._tag === "Fork" ? [part.left, part.right] : isRight ? [beside, part] : [part, beside]
  return isRight
    ? meet(left, graft(right, subtree, node, depth + 1))
    : meet(graft(left, subtree, node, depth + 1), right)
}

export class Assembly {
  readonly root: Hash
  #top: Part
  #records: number | undefined
  #heldRecords = 0

  constructor(root: Hash) {
    this.root = root
    this.#top = root === StateTree.EMPTY.hash ? whole(Leaf.EMPTY) : { _tag: "Gap", records: undefined }
  }

  /** Number of records in the whole state, known from the first subtree on. */
  get records(): number | undefined {
    return this.#records
  }

  get heldRecords(): number {
    return this.#heldRecords
  }

  /** Verifies and keeps an encoded subtree. The cost is bounded by the size of the encoding, whatever its content. */
  accept(
    bytes: Uint8Array,
  ): Either.Either<Subtree.Subtree, Binary.MalformedBytes | AlreadyHeld | Subtree.ForeignSubtree> {
    return Either.flatMap(Subtree.decode(bytes), (subtree) => this.#keep(subtree))
  }

  #keep(subtree: Subtree.Subtree): Either.Either<Subtree.Subtree, AlreadyHeld | Subtree.ForeignSubtree> {
    const position = Position.format(subtree.position)
    const gap = this.#gapOn(subtree.position)
    if (gap === undefined) return Either.left(new AlreadyHeld({ position }))
    // Cheap, so it comes before any hashing: the gap knows how many records it lacks.
    const beside = subtree.siblings.slice(gap.depth)
    const claimed = beside.reduce((sum, { records }) => sum + records, subtree.records.length)
    if (gap.records !== undefined && claimed !== gap.records) {
      const reason = `it claims ${claimed} records where ${gap.records} are missing`
      return Either.left(new Subtree.ForeignSubtree({ root: this.root, position, reason }))
    }
    return Either.map(Subtree.check(this.root, subtree), (node) => {
      this.#top = graft(this.#top, subtree, node, 0)
      this.#records ??= claimed
      this.#heldRecords += node.records
      return subtree
    })
  }

  /** The gap that contains the position; undefined if something there is held. */
  #gapOn({
    depth,
    path,
  }: Position.Position): { readonly depth: number; readonly records: number | undefined } | undefined {
    let part = this.#top
    let at = 0
    for (; part._tag === "Fork" && at < depth; at++) part = StateTree.turnsRight(path, at) ? part.right : part.left
    return part._tag === "Gap" ? { depth: at, records: part.records } : undefined
  }

  /** The missing subtrees to request from peers, in the order of keys. */
  *missing(): Generator<Missing, undefined, undefined> {
    const ahead: Array<readonly [Part, Position.Position]> = [[this.#top, Position.ROOT]]
    for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
      const [part, position] = next
      if (part._tag === "Gap") yield { position, records: part.records }
      if (part._tag === "Fork") {
        ahead.push([part.right, Position.right(position)], [part.left, Position.left(position)])
      }
    }
    return undefined
  }

  /** The trie with exactly this root, once nothing is missing. */
  get trie(): TrieNode.Node | undefined {
    if (this.#top._tag !== "Whole") return undefined
    const { node } = this.#top
    if (node.hash !== this.root) throw new Error(`assembled ${node.hash} for the root ${this.root}`)
    return node
  }
}
