/** An amount that a commit burns, or adds to a balance other than by a transfer. */
import type { Address } from "../../protocol/identity/Address.js"
import type { ProposalId } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"

export type Kind =
  /** The author's part of the rewards of its vertices. */
  | "reward"
  /** The fees of the transactions in its vertices. */
  | "fees"
  /** A council seat's part of every reward. */
  | "council"
  /** A proposal's payment from the treasury. */
  | "treasury_payment"
  /** The bond of a proposal on which enough voted. */
  | "bond_returned"
  /** A validator's stake after its cooldown. */
  | "stake_released"
  /** A delegation after its cooldown, with its earnings. */
  | "delegation_released"
  /** The burned part of a validator's stake. It changes no balance. */
  | "stake_slashed"
  /** The burned part of the delegations to a validator. It changes no balance. */
  | "delegations_slashed"

export interface Posting {
  readonly kind: Kind
  readonly address: Address
  readonly amount: Sats
  /** The proposal behind it, if any. */
  readonly proposalId: ProposalId | null
}
