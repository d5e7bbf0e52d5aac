/**
 * Collects what a commit adds to balances other than by transfers, and what it burns. With what transactions take and pay, this is
 * everything that ever changes a balance. No rule reads it, and no digest covers it.
 */
import type { Address } from "../../protocol/identity/Address.js"
import type { ProposalId } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { Event, Outcome } from "./Execution.js"
import type { Kind, Posting } from "./Posting.js"

/**
 * Those of one commit. What has the same kind, account and proposal is added up, as far as it is an amount: fees that are
 * paid back and forth may add up to more than there is.
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

  /** The fees that the author of a vertex got, without what went to the treasury. */
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

  /** Releases and slashes. */
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
