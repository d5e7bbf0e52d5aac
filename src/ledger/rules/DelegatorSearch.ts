/**
 * Finds the largest delegators of a validator step by step: examining one takes several microseconds, a million some
 * seconds. Commits can come between the steps; each delegator counts as it is when the search reaches it. A search must
 * be taken to its end.
 */
import type { Address } from "../../protocol/identity/Address.js"
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import { NONE, type Row } from "../tables/AccountRows.js"
import type { Walk } from "../tables/Delegators.js"
import type { State } from "../tables/State.js"
import * as Delegation from "./Delegation.js"

export interface Delegator {
  readonly address: Address
  readonly amount: Sats
  readonly isUndelegating: boolean
}

const byAmount = (a: Delegator, b: Delegator): number => b.amount - a.amount || (a.address < b.address ? -1 : 1)

export class DelegatorSearch {
  readonly #state: State
  readonly validator: Address
  readonly limit: number
  readonly begunAt: CommitIndex
  readonly #walk: Walk
  #largest: Array<Delegator> = []
  /** Smaller delegations do not enter the list. */
  #least = 0

  constructor(state: State, validator: Address, limit: number) {
    this.#state = state
    this.validator = validator
    this.limit = limit
    this.begunAt = state.head.index
    this.#walk = state.delegators.walk(validator)
  }

  /** Continues while `mayContinue`; returns whether the search is finished. */
  step(mayContinue: () => boolean): boolean {
    for (;;) {
      const row = this.#state.delegators.step(this.#walk)
      if (row === NONE) return true
      this.#look(row)
      if (!mayContinue()) return false
    }
  }

  #look(row: Row): void {
    const delegation = this.#state.livingDelegation(row)
    if (delegation === null || delegation.validator !== this.validator) return
    const amount = Delegation.worth(this.#state, delegation)
    if (amount < this.#least) return
    this.#largest.push({
      address: this.#state.accounts.addressOf(row),
      amount,
      isUndelegating: delegation.leaving !== null,
    })
    // Trimmed now and then, so a million delegators do not need a million entries.
    if (this.#largest.length < 4 * this.limit) return
    this.#largest = this.found
    this.#least = this.#largest.at(-1)?.amount ?? 0
  }

  /** Largest first. */
  get found(): Array<Delegator> {
    const latest = new Map(this.#largest.map((one) => [one.address, one]))
    return [...latest.values()].sort(byAmount).slice(0, this.limit)
  }
}
