/** Finds the certificates in one vertex's history by walking it down round by round, no further than needed. */

import type { Hash } from "../../protocol/identity/Hash.js"
import type { Round } from "../../protocol/numbers/Natural.js"
import type { Node } from "../dag/Dag.js"

/** Invariant: `#waiting` holds the vertices found in rounds up to `#below`; everything above has been visited. */
export class CertificateSearch {
  readonly #waiting = new Map<number, Set<Node>>()
  /** Maps the round of a leader slot to its vertex that has a certificate in the history. */
  readonly #certified = new Map<number, Hash>()
  #below: number

  constructor(from: Node) {
    this.#below = from.round
    this.#waiting.set(from.round, new Set([from]))
  }

  /** The vertex of this round's leader slot that has a certificate in the history. Call it from high rounds to low. */
  certifiedIn(round: Round): Hash | null {
    while (this.#below >= round + 2) {
      this.#walk(this.#below)
      this.#below--
    }
    return this.#certified.get(round) ?? null
  }

  #walk(round: number): void {
    for (const node of this.#waiting.get(round) ?? []) {
      if (node.certifies !== null) this.#certified.set(round - 2, node.certifies)
      for (const parent of node.parents) this.#meet(parent)
    }
    this.#waiting.delete(round)
  }

  #meet(node: Node): void {
    const met = this.#waiting.get(node.round)
    if (met === undefined) this.#waiting.set(node.round, new Set([node]))
    else met.add(node)
  }
}
