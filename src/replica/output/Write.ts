/**
 * Atomic, ordered disk writes, each to one of two files. After the process ends, each file holds a prefix of its
 * writes, at least up to the last one reported. A power cut leaves less of `udg.db`, but at least everything up to the
 * last write of either file that syncs it. docs/storage.md gives the reasons.
 */

import type { Opening } from "../../consensus/output/Opening.js"
import type { Execution } from "../../ledger/rules/Execution.js"
import type { Totals } from "../../ledger/tables/Records.js"
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
  /** Signed here: nothing else may ever be signed for its slot. `companions`: see `syncsLedger`. */
  | { readonly _tag: "OwnVertex"; readonly vertex: Vertex; readonly companions: ReadonlyArray<Vertex> | null }
  /**
   * To be signed remotely: requested once this is on disk, and again after a restart. Otherwise a slot whose vertex is
   * lost on the way would stay empty, and rounds wait for a quorum of slots.
   */
  | { readonly _tag: "Intent"; readonly vertex: Vertex; readonly companions: ReadonlyArray<Vertex> | null }
  | { readonly _tag: "Inserted"; readonly vertex: Vertex }
  /** A commit with all its effects. `settled`: transactions stored as pending that left the mempool with it. */
  | {
      readonly _tag: "Executed"
      readonly execution: Execution
      readonly vertices: ReadonlyArray<Vertex>
      readonly settled: ReadonlyArray<Hash>
    }
  /**
   * Built here, after its commit. `bytes`: size of the state's records. `isCosigned`: whether this node signed it as a
   * member.
   */
  | {
      readonly _tag: "CheckpointBuilt"
      readonly checkpoint: Checkpoint
      readonly bytes: number
      readonly isCosigned: boolean
    }
  | { readonly _tag: "CheckpointFinal"; readonly signed: SignedCheckpoint }
  /** The running epoch becomes the previous one; the one before that can be deleted. */
  | { readonly _tag: "EpochStarted"; readonly opening: Opening }
  /** Periodic mempool changes. A transaction that came and went in between is never written. */
  | {
      readonly _tag: "Pending"
      readonly added: ReadonlyArray<ReceivedTransaction>
      readonly removed: ReadonlyArray<Hash>
    }
  /** A header signed with this node's key, but not here: another process uses the key, or this disk was rolled back. */
  | { readonly _tag: "ForeignOwnHeader"; readonly header: Header }
  /** A fast sync begins: subtrees of another target are now worthless. */
  | { readonly _tag: "JoinBegun"; readonly target: SignedCheckpoint }
  /** A checked part of the target's state, as received. */
  | { readonly _tag: "JoinSubtree"; readonly subtree: Uint8Array }
  /**
   * The stored subtrees are the whole state. They replace all records, and the target's epoch replaces all epochs. Own
   * vertices, foreign headers, closing checkpoints and pending transactions stay. `proven`: the closing checkpoints
   * that lead to the target.
   */
  | {
      readonly _tag: "Joined"
      readonly target: SignedCheckpoint
      /** The totals of that state. */
      readonly totals: Totals
      readonly proven: ReadonlyArray<SignedCheckpoint>
      readonly opening: Opening
    }

/** The file of signatures is synced with every write, the ledger's only with some. */
export type File = "signed" | "ledger"

export const fileOf = ({ _tag }: Pick<Write, "_tag">): File =>
  _tag === "OwnVertex" || _tag === "Intent" || _tag === "ForeignOwnHeader" ? "signed" : "ledger"

/**
 * Whether completing this write means that all earlier ones are on disk.
 *
 * An own vertex: nodes that have it may ask for its parents, which after a power cut everywhere might exist nowhere
 * else. So either the ledger's file is synced, or all vertices inserted since its last sync are in the file of
 * signatures as companions, beside this or earlier own vertices. An epoch's start: a power cut takes nothing of a
 * finished epoch, even on a node that signs nothing.
 */
export const syncsLedger = (write: Write): boolean =>
  write._tag === "OwnVertex" || write._tag === "Intent"
    ? write.companions === null
    : write._tag === "EpochStarted" || write._tag === "Joined"
