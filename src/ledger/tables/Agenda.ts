/**
 * The proposals that time will advance, ordered by the round when it does. Commits thus skip proposals that only wait,
 * for up to a million rounds. An index over the proposals, not a record.
 */

import { Heap, type Placed } from "../../collections/Heap.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { ProposalId, Round } from "../../protocol/numbers/Natural.js"
import type { Proposal } from "./Records.js"

interface Item extends Placed {
  readonly id: ProposalId
  /** The proposer, while the proposal is open for voting. */
  readonly activeOf: Address | null
  readonly isPassed: boolean
  readonly dueAt: number
}

/** When a proposal is decided, is carried out, or loses its texts; undefined once nothing remains to be done. */
const dueRoundOf = ({ status, texts, votingEndsAtRound, executesAtRound }: Proposal): number | undefined => {
  switch (status) {
    case "Active":
      return votingEndsAtRound + 1
    case "Passed":
      return executesAtRound
    case "Rejected":
    case "Executed":
    case "Failed":
      return texts === null ? undefined : executesAtRound + Limits.PROPOSAL_TEXTS_ROUNDS
  }
}

export class Agenda {
  readonly #items = new Heap<Item>((a, b) => a.dueAt < b.dueAt)
  readonly #activeOf = new Map<Address, number>()
  readonly #active = new Set<ProposalId>()
  readonly #passed = new Set<ProposalId>()

  /** Number of proposals open for voting, or that were until this commit. */
  get active(): number {
    return this.#active.size
  }

  get activeIds(): Iterable<ProposalId> {
    return this.#active
  }

  /** Passed proposals that have not been carried out yet. */
  get passedIds(): Iterable<ProposalId> {
    return this.#passed
  }

  activeOf(proposer: Address): number {
    return this.#activeOf.get(proposer) ?? 0
  }

  add(id: ProposalId, proposal: Proposal): void {
    const dueAt = dueRoundOf(proposal)
    if (dueAt === undefined) return
    const activeOf = proposal.status === "Active" ? proposal.proposer : null
    if (activeOf !== null) {
      this.#countActive(activeOf, 1)
      this.#active.add(id)
    }
    const isPassed = proposal.status === "Passed"
    if (isPassed) this.#passed.add(id)
    this.#items.push({ id, activeOf, isPassed, dueAt, place: -1 })
  }

  #countActive(proposer: Address, change: 1 | -1): void {
    const count = this.activeOf(proposer) + change
    if (count === 0) this.#activeOf.delete(proposer)
    else this.#activeOf.set(proposer, count)
  }

  /** Removes and returns the proposals due at this round, lowest id first. */
  takeDue(round: Round): ReadonlyArray<ProposalId> {
    const due: Array<ProposalId> = []
    for (let next = this.#items.first; next !== undefined && next.dueAt <= round; next = this.#items.first) {
      this.#items.remove(next)
      if (next.activeOf !== null) {
        this.#countActive(next.activeOf, -1)
        this.#active.delete(next.id)
      }
      if (next.isPassed) this.#passed.delete(next.id)
      due.push(next.id)
    }
    return due.sort((a, b) => a - b)
  }
}
