/** The ledger's input for one commit, and its output. */

import type { EpochRecord } from "../../protocol/epoch/EpochRecord.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Epoch, ProposalId, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import type { ProposalFailure } from "../../protocol/transaction/ProposalFailure.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Changes } from "../tables/Effects.js"
import type { Totals } from "../tables/Records.js"
import type { Posting } from "./Posting.js"
import type { Rejection } from "./Rejection.js"

export interface Input {
  readonly commit: Commit
  readonly time: Timestamp
  /** In order; each structurally valid, with verified signatures, including those in its body. */
  readonly vertices: ReadonlyArray<Vertex>
}

export type Outcome =
  | {
      readonly _tag: "Applied"
      readonly fee: Sats
      /** The part of the fee that went to the treasury instead of the author. */
      readonly toTreasury: Sats
      /** What left the sender's balance besides the fee: an amount, the cost of a delegation's shares, a bond. */
      readonly taken: Sats
      readonly proposalId: ProposalId | null
    }
  /** Only the fee was charged. */
  | { readonly _tag: "Failed"; readonly fee: Sats; readonly reason: Rejection }
  /** As if it had never been included. A transaction whose nonce is too high can return to the mempool. */
  | { readonly _tag: "NoEffect"; readonly reason: Rejection }

export interface VertexOutcome {
  readonly vertex: Hash
  readonly author: Address
  /** The part of the vertex's coinbase that was minted. */
  readonly minted: Sats
  /** One for each transaction of the body. */
  readonly transactions: ReadonlyArray<Outcome>
}

export type Event =
  | {
      readonly _tag: "Slashed"
      readonly validator: Address
      readonly epoch: Epoch
      readonly round: Round
      readonly ownStake: Sats
      readonly delegated: Sats
    }
  | {
      readonly _tag: "Unlocked"
      readonly address: Address
      readonly amount: Sats
      readonly from: "stake" | "delegation"
    }
  | {
      readonly _tag: "ProposalDecided"
      readonly id: ProposalId
      readonly status: "Passed" | "Rejected"
      readonly bond: "returned" | "forfeited"
    }
  | {
      readonly _tag: "ProposalCarriedOut"
      readonly id: ProposalId
      readonly status: "Executed" | "Failed"
      readonly failure: ProposalFailure | null
    }

export interface Execution {
  readonly commit: Commit
  readonly time: Timestamp
  /** One for each vertex of the input. */
  readonly vertices: ReadonlyArray<VertexOutcome>
  readonly events: ReadonlyArray<Event>
  readonly postings: ReadonlyArray<Posting>
  readonly changes: Changes
  readonly effectsDigest: Hash
  readonly totals: Totals
  /** Set if and only if the commit closes its epoch. */
  readonly nextEpoch: EpochRecord | null
  /** Whether the state after this commit is a checkpoint. If so, freeze it before the next commit. */
  readonly isCheckpointDue: boolean
}
