/**
 * The replica's requests to its host, as data. The host executes writes in their order, and messages in theirs. A write
 * becomes visible only once on disk: whatever reads as finalized is there.
 */

import type { Rollback } from "../../consensus/commit/Rollback.js"
import type { InvalidVertex } from "../../consensus/dag/Validity.js"
import type { Place } from "../../consensus/KeyMemory.js"
import type { ExecutionFault } from "../../ledger/ExecutionFault.js"
import type { SupplyInvariantViolated } from "../../ledger/tables/Supply.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import type { Answer, DiskQuestion, Gossip, Question } from "../messages/Message.js"
import type { PeerId } from "../messages/Peer.js"
import type { ReceivedTransaction, Write } from "./Write.js"

/** Two checkpoints of different histories, and the peers that claim each. */
export interface Parting {
  readonly first: SignedCheckpoint
  readonly second: SignedCheckpoint
  readonly firstClaimants: ReadonlyArray<PeerId>
  readonly secondClaimants: ReadonlyArray<PeerId>
}

/** Why a fast sync cannot continue on its own. */
export type JoinProblem =
  /** Peers prove two histories. The operator has to name the right one: `--trust EPOCH:HASH`. */
  | ({ readonly _tag: "TwoChains" } & Parting)
  /** The complete state has the signed root, but no ledger would write it. */
  | { readonly _tag: "UnreadableState"; readonly epoch: Epoch; readonly reason: string }

export interface JoinProgress {
  readonly epoch: Epoch
  readonly heldRecords: number
  /** Unknown until the first subtree has arrived. */
  readonly records: number | undefined
}

export type Fatal =
  /** Exit code 100. */
  | { readonly _tag: "FinalityRollback"; readonly rollback: Rollback }
  /** Exit code 101. */
  | { readonly _tag: "SupplyInvariantViolated"; readonly violation: SupplyInvariantViolated }
  /** Exit code 102. */
  | { readonly _tag: "ExecutionFault"; readonly fault: ExecutionFault }
  /** Exit code 103: the epoch runs by rules that this program does not know. */
  | { readonly _tag: "UnknownVersion"; readonly epoch: Epoch; readonly version: number; readonly newest: number }

export type Output =
  | { readonly _tag: "Send"; readonly to: PeerId; readonly message: Question | DiskQuestion | Answer }
  /** Send to all peers, by any means. A peer that misses it asks for it. */
  | { readonly _tag: "Broadcast"; readonly message: Gossip }
  /** Answer the question from the disk, without waiting for any write. */
  | { readonly _tag: "Serve"; readonly to: PeerId; readonly question: DiskQuestion }
  /**
   * `isSynced`: report `written(id)` once the write, and whatever `syncsLedger` names, survives a power cut. Other
   * writes are not reported.
   */
  | { readonly _tag: "Write"; readonly id: number; readonly write: Write; readonly isSynced: boolean }
  /**
   * Ask the remote signer and report `signed(id, …)`, however late. First tell it the highest place at which the key is
   * known to have signed a vertex.
   */
  | { readonly _tag: "Sign"; readonly id: number; readonly bytes: Uint8Array; readonly signedAt: Place | null }
  /** These are now in the mempool. */
  | { readonly _tag: "TakenIn"; readonly received: ReadonlyArray<ReceivedTransaction> }
  /** The peer sent something that no honest node sends. */
  | {
      readonly _tag: "Misbehaved"
      readonly peer: PeerId
      readonly error: InvalidVertex | { readonly _tag: "WrongState" | "WrongAnswer"; readonly reason: string }
    }
  | { readonly _tag: "Joining"; readonly progress: JoinProgress }
  | { readonly _tag: "JoinStopped"; readonly problem: JoinProblem }
  /** The last output; the replica takes no more input. */
  | { readonly _tag: "Fatal"; readonly fatal: Fatal }

export type Outputs = ReadonlyArray<Output>
