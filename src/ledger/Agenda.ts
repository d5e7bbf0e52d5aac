/**
 * The proposals that time will move on, by the round at which it does, so that no commit looks at those that only wait:
 * a delay may be a million rounds. An index over the proposals; it is no record of its own.
 */
import type { ProposalId, Round } from "../protocol/Counter.js"
import { Heap, type Placed } from "./pending/Heap.js"
import type { Proposal } from "./Records.js"

interface Item extends Placed {
  readonly id: ProposalId
  readonly isActive: boolean
  readonly dueAt: number
}

export class Agenda {
  readonly #items = new Heap<Item>((a, b) => (a.dueAt === b.dueAt ? a.id < b.id : a.dueAt < b.dueAt))
  #active = 0

  /** How many proposals can be voted on, or could until the end of the commit. */
  get active(): number {
    return this.#active
  }

  /** Keeps a proposal that is Active, to be decided, or Passed, to be carried out; others are done. */
  add(id: ProposalId, { status, votingEndsAtRound, executesAtRound }: Proposal): void {
    if (status !== "Active" && status !== "Passed") return
    const isActive = status === "Active"
    if (isActive) this.#active++
    this.#items.push({ id, isActive, dueAt: isActive ? votingEndsAtRound + 1 : executesAtRound, place: -1 })
  }

  /** Takes out whatever is due at this round, lowest id first. */
  takeDue(round: Round): ReadonlyArray<ProposalId> {
    const due: Array<ProposalId> = []
    for (let next = this.#items.first; next !== undefined && next.dueAt <= round; next = this.#items.first) {
      this.#items.remove(next)
      if (next.isActive) this.#active--
      due.push(next.id)
    }
    return due.sort((a, b) => a - b)
  }
}
