/** What a commit adds to a balance other than by a transfer, or burns. */
import type { Address } from "../../protocol/identity/Address.js"
import type { ProposalId } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"

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
  readonly amount: Sats
  /** The proposal behind it, if there is one. */
  readonly proposalId: ProposalId | null
}
