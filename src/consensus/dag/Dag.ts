/** One epoch's vertices, each inserted after its parents. */

import type { Hash } from "../../protocol/identity/Hash.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Parent } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Committee } from "./Committee.js"

const NO_NODES: ReadonlyArray<Node> = []

/**
 * An inserted vertex, with fields for the DAG's readers that save them lookups. Each field has one writer, named beside
 * it.
 */
export class Node {
  readonly vertex: Vertex
  readonly hash: Hash
  readonly round: Round
  readonly seat: number
  /** Whether it was the first of its slot to be inserted here. Only such a vertex is ever chosen as a parent. */
  readonly isFirst: boolean
  /** Its parents above the collected round. The DAG clears the list when it collects the vertex itself. */
  parents: ReadonlyArray<Node>
  /** The vertex it votes for in the leader slot one round below; null is a blame. Written by the committer. */
  vote: Hash | null = null
  /** The vertex it certifies in the leader slot two rounds below. Written by the committer. */
  certifies: Hash | null = null
  /** Written by the linearizer. */
  isOrdered = false
  /** Whether it is in the history of this node's own vertices. Written by the proposer. */
  isCovered = false

  constructor(vertex: Vertex, seat: number, isFirst: boolean, parents: ReadonlyArray<Node>) {
    this.vertex = vertex
    this.hash = vertex.header.hash
    this.round = vertex.header.round
    this.seat = seat
    this.isFirst = isFirst
    this.parents = parents
  }
}

class Row {
  readonly nodes: Array<Node> = []
  readonly firsts: Array<Node | undefined> = []
  readonly counts: Array<number> = []
  weight = 0
}

/**
 * Invariant: every ancestor of a vertex that is above the collected round is in the DAG. A walk down from any vertex
 * thus meets exactly the same vertices on every node, no matter what each has collected.
 */
export class Dag {
  readonly committee: Committee
  readonly #nodes = new Map<Hash, Node>()
  readonly #rows = new Map<Round, Row>()
  readonly #latest: Array<Node | undefined> = []
  #collectedRound: Round
  #highestRound: Round
  #quorumRound: Round
  #begunRound: Round

  constructor(committee: Committee) {
    this.committee = committee
    const before = Natural.round(committee.firstRound - 1)
    this.#collectedRound = before
    this.#highestRound = before
    this.#quorumRound = before
    this.#begunRound = before
  }

  get size(): number {
    return this.#nodes.size
  }

  /** Vertices of this round and below are no longer kept, inserted or reported as missing. */
  get collectedRound(): Round {
    return this.#collectedRound
  }

  get highestRound(): Round {
    return this.#highestRound
  }

  /** The highest round with a quorum of vertices; the round before the epoch's first counts as such. */
  get quorumRound(): Round {
    return this.#quorumRound
  }

  /** The highest round with vertices of a third of the weight, and thus of at least one honest member. */
  get begunRound(): Round {
    return this.#begunRound
  }

  has(hash: Hash): boolean {
    return this.#nodes.has(hash)
  }

  get(hash: Hash): Node | undefined {
    return this.#nodes.get(hash)
  }

  /** In the order of insertion. */
  at(round: Round): ReadonlyArray<Node> {
    return this.#rows.get(round)?.nodes ?? NO_NODES
  }

  /** The vertex that holds a slot: the first one inserted there. */
  first(round: Round, seat: number): Node | undefined {
    return this.#rows.get(round)?.firsts[seat]
  }

  countOf(round: Round, seat: number): number {
    return this.#rows.get(round)?.counts[seat] ?? 0
  }

  /** Every vertex of a slot; more than one only if the author equivocates. */
  ofSlot(round: Round, seat: number): ReadonlyArray<Node> {
    return this.at(round).filter((node) => node.seat === seat)
  }

  /** The vertices kept of an author, from low rounds to high. */
  ofAuthor(seat: number): ReadonlyArray<Node> {
    const found: Array<Node> = []
    for (let round = this.#collectedRound + 1; round <= this.#highestRound; round++) {
      found.push(...this.ofSlot(Natural.round(round), seat))
    }
    return found
  }

  /** An author's vertex of the highest round, even if it has been collected. */
  latestOf(seat: number): Node | undefined {
    return this.#latest[seat]
  }

  /**
   * The vertex that a parent reference names. A hash of a vertex of another slot names nothing: validity counts a
   * parent's weight by the claimed slot, so false slots could turn any few vertices into a quorum of parents.
   */
  named({ round, author, hash }: Parent): Node | undefined {
    const node = this.#nodes.get(hash)
    return node?.round === round && node.vertex.header.author === author ? node : undefined
  }

  /** The parents that must be inserted before this vertex. */
  missingParents(vertex: Vertex): ReadonlyArray<Parent> {
    return vertex.header.parents.filter(
      (parent) => parent.round > this.#collectedRound && this.named(parent) === undefined,
    )
  }

  /**
   * Inserts a valid vertex above the collected round that has all its parents and is not here yet. No message can make
   * it throw: `Admission` inserts only vertices for which `isHereOrOld` is false and `missingParents` is empty, and
   * forgets those that are collected.
   */
  insert(vertex: Vertex): Node {
    const { header } = vertex
    const seat = this.committee.seatOf(header.author)
    if (seat === undefined || header.round <= this.#collectedRound || this.#nodes.has(header.hash)) {
      throw new Error(
        `vertex ${header.hash} of round ${header.round} cannot be inserted: unknown author, collected round or duplicate`,
      )
    }
    const parents: Array<Node> = []
    for (const parent of header.parents) {
      const node = this.named(parent)
      // Walks down the history terminate because rounds decrease on the way.
      if (parent.round >= header.round) {
        throw new Error(`vertex ${header.hash} of round ${header.round} has a parent in round ${parent.round}`)
      }
      if (node !== undefined) parents.push(node)
      else if (parent.round > this.#collectedRound) {
        throw new Error(`vertex ${header.hash} cannot be inserted before its parent ${parent.hash}`)
      }
    }
    return this.#place(vertex, seat, parents)
  }

  #place(vertex: Vertex, seat: number, parents: ReadonlyArray<Node>): Node {
    const { round, hash } = vertex.header
    let row = this.#rows.get(round)
    if (row === undefined) {
      row = new Row()
      this.#rows.set(round, row)
    }
    const node = new Node(vertex, seat, row.firsts[seat] === undefined, parents)
    this.#nodes.set(hash, node)
    row.nodes.push(node)
    row.counts[seat] = (row.counts[seat] ?? 0) + 1
    if (node.isFirst) {
      row.firsts[seat] = node
      row.weight += this.committee.weightOf(seat)
    }
    const latest = this.#latest[seat]
    if (latest === undefined || latest.round < round) this.#latest[seat] = node
    if (round > this.#highestRound) this.#highestRound = round
    if (round > this.#quorumRound && this.committee.isQuorum(row.weight)) this.#quorumRound = round
    const isBegun = !this.committee.isQuorum(this.committee.totalWeight - row.weight)
    if (round > this.#begunRound && isBegun) this.#begunRound = round
    return node
  }

  /** Forgets everything up to and including `round`, and returns it so that the caller can read it once more. */
  collect(round: Round): ReadonlyArray<Node> {
    const collected: Array<Node> = []
    for (let old = this.#collectedRound + 1; old <= round; old++) {
      for (const node of this.at(Natural.round(old))) {
        collected.push(node)
        this.#nodes.delete(node.hash)
        // Otherwise each generation would keep the previous one alive, back to the epoch's first round.
        node.parents = NO_NODES
      }
      this.#rows.delete(Natural.round(old))
    }
    if (round > this.#collectedRound) this.#collectedRound = round
    return collected
  }
}
