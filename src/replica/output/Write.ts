/**
 * What goes to the disk, in the order in which it is given, to one of two files; each write is done whole or not at all.
 * After the end of a process a prefix of all writes is there, at least up to the last one that was reported. A power cut
 * leaves of each file a prefix of its own writes: in `signed.db` everything that was done, in `udg.db` at least everything
 * up to the last write of either file that syncs it. docs/storage.md says why.
 */

import type { Opening } from "../../consensus/output/Opening.js"
import type { Execution } from "../../ledger/rules/Execution.js"
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"

export interface ReceivedTransaction {
  readonly transaction: Transaction
  readonly receivedAt: Timestamp
}

export type Write =
  /** Signed here: nothing else may ever be signed for its slot. */
  | { readonly _tag: "OwnVertex"; readonly vertex: Vertex }
  | { readonly _tag: "Inserted"; readonly vertex: Vertex }
  /** A commit with everything it did. `settled`: what has left the mempool with it, of what was written as pending. */
  | {
      readonly _tag: "Executed"
      readonly execution: Execution
      readonly vertices: ReadonlyArray<Vertex>
      readonly settled: ReadonlyArray<Hash>
    }
  /**
   * Built here, of a commit executed before. `bytes`: of the state's records. `isCosigned`: this node sits in the committee
   * and has signed it.
   */
  | {
      readonly _tag: "CheckpointBuilt"
      readonly checkpoint: Checkpoint
      readonly bytes: number
      readonly isCosigned: boolean
    }
  | { readonly _tag: "CheckpointFinal"; readonly signed: SignedCheckpoint }
  /** The running epoch becomes the previous one; what was the previous one may go. */
  | { readonly _tag: "EpochStarted"; readonly opening: Opening }
  /** What came into the mempool and what left it, every now and then: what did both in between was never here. */
  | {
      readonly _tag: "Pending"
      readonly added: ReadonlyArray<ReceivedTransaction>
      readonly removed: ReadonlyArray<Hash>
    }
  /** A header under the own key that was not made here: somebody else signs with it, or this disk was set back. */
  | { readonly _tag: "ForeignOwnHeader"; readonly header: Header }
  /** A fast sync begins: subtrees of another target are worth nothing any more. */
  | { readonly _tag: "JoinBegun"; readonly target: SignedCheckpoint }
  /** A checked part of the target's state, as it was sent. */
  | { readonly _tag: "JoinSubtree"; readonly subtree: Uint8Array }
  /**
   * The subtrees kept are the whole state: they replace all records, and the epoch that the target opens replaces all
   * epochs. Own vertices, foreign headers, closing checkpoints and pending transactions stay. `proven`: the closing
   * checkpoints that lead to the target.
   */
  | {
      readonly _tag: "Joined"
      readonly target: SignedCheckpoint
      readonly proven: ReadonlyArray<SignedCheckpoint>
      readonly opening: Opening
    }

/** The file of what was signed is synced with every write to it, the ledger's only with some. */
export type File = "signed" | "ledger"

export const fileOf = ({ _tag }: Write): File =>
  _tag === "OwnVertex" || _tag === "ForeignOwnHeader" ? "signed" : "ledger"

/**
 * Whether everything that was given before, and this, is on the disk when this write is done.
 *
 * An own vertex: whoever has it may ask for what it names, and after a power cut everywhere nobody else may have that.
 * The beginning of an epoch: a power cut takes nothing of an epoch that is over, also where nothing is signed.
 */
export const syncsLedger = ({ _tag }: Write): boolean => SYNCING.has(_tag)

const SYNCING: ReadonlySet<Write["_tag"]> = new Set(["OwnVertex", "EpochStarted", "Joined"])
