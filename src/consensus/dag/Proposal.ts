/** The parents of this node's next vertex: the whole previous round, and older vertices not reached through it. */

import * as Limits from "../../protocol/numbers/Limits.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Parent } from "../../protocol/vertex/Header.js"
import type { Dag, Node } from "./Dag.js"

const asParent = ({ vertex: { header } }: Node): Parent => ({
  round: header.round,
  author: header.author,
  hash: header.hash,
})

/**
 * Vertices not yet in the history of this node's own. Invariant: `#uncovered` holds the inserted ones not `isCovered`.
 */
export class Proposer {
  readonly #dag: Dag
  readonly seat: number
  readonly #uncovered = new Set<Node>()

  constructor(dag: Dag, seat: number) {
    this.#dag = dag
    this.seat = seat
  }

  /** Records a newly inserted vertex. A vertex of this node covers its history. */
  add(node: Node): void {
    this.#uncovered.add(node)
    if (node.seat !== this.seat) return
    const found = [node]
    // The loop also visits what it pushes.
    for (const reached of found) {
      if (reached.isCovered) continue
      reached.isCovered = true
      this.#uncovered.delete(reached)
      found.push(...reached.parents)
    }
  }

  collect(nodes: ReadonlyArray<Node>): void {
    for (const node of nodes) this.#uncovered.delete(node)
  }

  /** The parents of this node's vertex of this round: the first to arrive of each slot; of its own, only the latest. */
  parents(round: Round): ReadonlyArray<Parent> {
    const before = Natural.round(round - 1)
    const chosen = this.#dag.at(before).filter((node) => node.isFirst)
    const own = this.#dag.latestOf(this.seat)
    if (own !== undefined && own.round < before && own.round > this.#dag.collectedRound) chosen.push(own)
    const most = Limits.PARENTS_PER_MEMBER * this.#dag.committee.size
    const reached = new Set<Node>()
    for (const node of chosen) this.#reach(node, reached)
    // From the highest round down, since one vertex may cover many below it.
    const older = [...this.#uncovered]
      .filter((node) => node.round < before && node.isFirst)
      .sort((a, b) => b.round - a.round)
    for (const node of older) {
      if (chosen.length >= most) break
      if (reached.has(node)) continue
      chosen.push(node)
      this.#reach(node, reached)
    }
    return chosen.map(asParent)
  }

  #reach(from: Node, reached: Set<Node>): void {
    const found = [from]
    for (const node of found) {
      if (node.isCovered || reached.has(node)) continue
      reached.add(node)
      found.push(...node.parents)
    }
  }
}
