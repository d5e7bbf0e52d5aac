/** Proofs of equivocation not in any commit yet: one per author and epoch, since an author is slashed once. */

import * as Limits from "../../protocol/numbers/Limits.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import * as Evidence from "../../protocol/vertex/Evidence.js"
import type { Header } from "../../protocol/vertex/Header.js"

/** Rounds to wait before proposing it again: by then it is ordered, or its vertex is lost. */
const PROPOSED_AGAIN_ROUNDS = 8
/** No more authors can be accused than two committees have members. */
const MAX_HELD = 2 * Limits.COMMITTEE_MEMBERS

interface Held {
  readonly evidence: Evidence.Evidence
  readonly bytes: number
  proposedIn: number
}

const keyOf = ({ epoch, author }: Header): string => `${epoch} ${author}`

export class EvidencePool {
  readonly #held = new Map<string, Held>()

  get size(): number {
    return this.#held.size
  }

  wants(evidence: Evidence.Evidence): boolean {
    return !this.#held.has(keyOf(evidence.first)) && this.#held.size < MAX_HELD
  }

  add(evidence: Evidence.Evidence): boolean {
    if (!this.wants(evidence)) return false
    const key = keyOf(evidence.first)
    const bytes = Evidence.encode(evidence).length
    this.#held.set(key, { evidence, bytes, proposedIn: Number.NEGATIVE_INFINITY })
    return true
  }

  /** For this node's vertex of the round, as many as fit. */
  take(round: Round, maxBytes: number): ReadonlyArray<Evidence.Evidence> {
    const taken: Array<Evidence.Evidence> = []
    let bytes = 0
    for (const held of this.#held.values()) {
      if (taken.length === Limits.VERTEX_EVIDENCE) break
      if (round - held.proposedIn < PROPOSED_AGAIN_ROUNDS || bytes + held.bytes > maxBytes) continue
      held.proposedIn = round
      bytes += held.bytes
      taken.push(held.evidence)
    }
    return taken
  }

  /**
   * After a commit, drops evidence that can no longer be punished: it was punished or proves nothing. The ledger
   * decides, not the evidence in vertices: an author could confess to a slot in an epoch that never existed and pass
   * for punished.
   */
  settle(isPunishable: (evidence: Evidence.Evidence) => boolean): void {
    for (const [key, { evidence }] of this.#held) if (!isPunishable(evidence)) this.#held.delete(key)
  }

  /** Evidence from epochs before `oldest` no longer counts. */
  forgetBefore(oldest: Epoch): void {
    for (const [key, { evidence }] of this.#held) if (evidence.first.epoch < oldest) this.#held.delete(key)
  }
}
