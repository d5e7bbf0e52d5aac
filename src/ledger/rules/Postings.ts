/**
 * Collects what a commit adds to balances other than by transfers, and what it burns. Together with transactions, these
 * are all changes of balances. No rule reads them, and no digest covers them.
 */
import type { Address } from "../../protocol/identity/Address.js"
import type { ProposalId } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { Event, Outcome } from "./Execution.js"
import type { Kind, Posting } from "./Posting.js"

/**
 * The postings of one commit. Those of the same kind, account and proposal are added up while the sum is a valid
 * amount: fees paid back and forth can exceed the whole supply.
 */
export class Postings {
  readonly #open = new Map<string, Posting>()
  readonly #full: Array<Posting> = []

  add(kind: Kind, address: Address, amount: Sats.Sats, proposalId: ProposalId | null = null): void {
    if (amount === 0) return
    const key = `${address}${kind}${proposalId ?? ""}`
    const before = this.#open.get(key)
    const sum = before === undefined ? amount : Sats.plus(before.amount, amount)
    if (before !== undefined && sum === undefined) this.#full.push(before)
    this.#open.set(key, { kind, address, amount: sum ?? amount, proposalId })
  }

  /** The fees that the author of a vertex received, without the treasury's part. */
  fees(author: Address, outcomes: ReadonlyArray<Outcome>): void {
    let total = Sats.ZERO
    for (const outcome of outcomes) {
      if (outcome._tag === "NoEffect") continue
      const fee = outcome._tag === "Applied" ? Sats.subtractBounded(outcome.fee, outcome.toTreasury) : outcome.fee
      const sum = Sats.plus(total, fee)
      if (sum === undefined) this.add("fees", author, total)
      total = sum ?? fee
    }
    this.add("fees", author, total)
  }

  events(events: ReadonlyArray<Event>): void {
    for (const event of events) {
      if (event._tag === "Unlocked") this.add(`${event.from}_released`, event.address, event.amount)
      if (event._tag !== "Slashed") continue
      this.add("stake_slashed", event.validator, event.ownStake)
      this.add("delegations_slashed", event.validator, event.delegated)
    }
  }

  get all(): ReadonlyArray<Posting> {
    return [...this.#full, ...this.#open.values()]
  }
}
