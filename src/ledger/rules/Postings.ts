/**
 * What a commit adds to balances other than by transfers, and what it burns. With what transactions take and pay, this is
 * everything that ever changes a balance. No rule reads it, and no digest covers it.
 */
import type { Address } from "../../protocol/identity/Address.js"
import type { ProposalId } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { Event, Outcome } from "./Execution.js"

export type Kind =
  /** The author's part of the rewards of its vertices. */
  | "reward"
  /** The fees of the transactions in its vertices. */
  | "fees"
  /** What a council seat gets of every reward. */
  | "council"
  /** What a proposal pays from the treasury. */
  | "treasury_payment"
  /** The bond of a proposal whose vote had a quorum. */
  | "bond_returned"
  /** A validator's stake after its wait. */
  | "stake_released"
  /** A delegation after its wait, with what it earned. */
  | "delegation_released"
  /** What was burned of a validator's stake. It changes no balance. */
  | "stake_slashed"
  /** What was burned of the delegations to a validator. It changes no balance. */
  | "delegations_slashed"

export interface Posting {
  readonly kind: Kind
  readonly address: Address
  readonly amount: Sats.Sats
  /** The proposal behind it, if there is one. */
  readonly proposalId: ProposalId | null
}

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
