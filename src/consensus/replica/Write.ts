/**
 * What goes to the disk, in the order in which it is given. After a crash a prefix of it is there, at least up to the
 * last one that had to be synced and was reported as written.
 */
import type { Execution } from "../../ledger/Execution.js"
import type { Checkpoint, SignedCheckpoint } from "../../protocol/Checkpoint.js"
import type { Timestamp } from "../../protocol/Counter.js"
import type { Hash } from "../../protocol/Hash.js"
import type { Header } from "../../protocol/Header.js"
import type { Transaction } from "../../protocol/Transaction.js"
import type { Vertex } from "../../protocol/Vertex.js"
import type { Opening } from "../Output.js"

export interface ReceivedTransaction {
  readonly transaction: Transaction
  readonly receivedAt: Timestamp
}

export type Write =
  /** Signed here: nothing else may ever be signed for its slot. Also counts as inserted, behind everything before. */
  | { readonly _tag: "OwnVertex"; readonly vertex: Vertex }
  | { readonly _tag: "Inserted"; readonly vertex: Vertex }
  /** A commit with everything it did. `settled`: what has left the mempool with it, of what was written as pending. */
  | {
      readonly _tag: "Executed"
      readonly execution: Execution
      readonly vertices: ReadonlyArray<Vertex>
      readonly settled: ReadonlyArray<Hash>
    }
  /** Built here, of a commit executed before. */
  | { readonly _tag: "CheckpointBuilt"; readonly checkpoint: Checkpoint }
  | { readonly _tag: "CheckpointFinal"; readonly signed: SignedCheckpoint }
  /** The running epoch becomes the previous one; what was the previous one may go. */
  | { readonly _tag: "EpochStarted"; readonly opening: Opening }
  /** What came into the mempool and what left it, every now and then: what did both in between was never here. */
  | {
      readonly _tag: "Pending"
      readonly added: ReadonlyArray<ReceivedTransaction>
      readonly removed: ReadonlyArray<Hash>
    }
  /** A header under the own key that was not made here. */
  | { readonly _tag: "ForeignOwnHeader"; readonly header: Header }
  /** A fast sync begins: subtrees of another target are worth nothing any more. */
  | { readonly _tag: "JoinBegun"; readonly target: SignedCheckpoint }
  /** A checked part of the target's state, as it was sent. */
  | { readonly _tag: "JoinSubtree"; readonly subtree: Uint8Array }
  /**
   * The subtrees kept are the whole state: they replace all records, and the epoch that the target opens replaces all
   * epochs. Own vertices, foreign headers, closing checkpoints and pending transactions stay.
   */
  | { readonly _tag: "Joined"; readonly target: SignedCheckpoint; readonly opening: Opening }
