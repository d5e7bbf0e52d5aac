/** The requests of the consensus to its host, as data. The host carries them out in order. */

import type { Checkpoint, CheckpointSignature, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import type { Evidence } from "../../protocol/vertex/Evidence.js"
import type { Header, Parent } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { OrderedCommit } from "../commit/Linearizer.js"
import type { Rollback } from "../commit/Rollback.js"
import type { InvalidVertex } from "../dag/Validity.js"
import type { Opening } from "./Opening.js"

export interface Wanted {
  readonly parent: Parent
  /** The author of a vertex that names it: the peer most likely to have it. */
  readonly namedBy: Address
  /** Number of earlier requests. */
  readonly attempt: number
}

export type Output =
  /** Store it after everything stored before: a restart needs the vertices in this order. */
  | { readonly _tag: "Inserted"; readonly vertex: Vertex }
  /** Fill the body, sign, and write to disk. Then send the vertex to all peers and pass it to `Core.own`. */
  | {
      readonly _tag: "Propose"
      readonly base: Hash
      readonly epoch: Epoch
      readonly round: Round
      readonly parents: ReadonlyArray<Parent>
      readonly coinbase: Sats
      readonly timestamp: Timestamp
    }
  /** Execute it. `closes` marks the epoch's last commit. */
  | ({ readonly _tag: "Committed"; readonly closes: boolean } & OrderedCommit)
  /** Ask a peer for these vertices. */
  | { readonly _tag: "Fetch"; readonly wanted: ReadonlyArray<Wanted> }
  /** Ask a peer for all vertices of these rounds, in the order in which that peer inserted them. */
  | { readonly _tag: "CatchUp"; readonly epoch: Epoch; readonly fromRound: Round; readonly toRound: Round }
  /** The vertex breaks a rule; the sender made it, or forwarded it without checking. */
  | { readonly _tag: "Invalid"; readonly vertex: Vertex; readonly error: InvalidVertex }
  | { readonly _tag: "EvidenceFound"; readonly evidence: Evidence }
  /** Vertices of this node that no commit will order any more: their transactions belong back in the mempool. */
  | { readonly _tag: "Returned"; readonly vertices: ReadonlyArray<Vertex> }
  /** Sign it, send the signature to all peers, and pass it to `Core.checkpointSigned`. */
  | { readonly _tag: "SignCheckpoint"; readonly checkpoint: Checkpoint }
  /** A quorum has signed it. Store it. */
  | { readonly _tag: "CheckpointFinal"; readonly signed: SignedCheckpoint }
  | { readonly _tag: "EpochStarted"; readonly opening: Opening }
  /** Resend these to all peers, because something did not arrive. */
  | {
      readonly _tag: "Resend"
      readonly vertices: ReadonlyArray<Vertex>
      readonly closing: { readonly checkpoint: Checkpoint; readonly signature: CheckpointSignature } | null
    }
  /** The sender of the last message is epochs ahead: ask it for the closing checkpoints from this epoch on. */
  | { readonly _tag: "AskClosing"; readonly from: Epoch }
  /** The sender of the last message is behind: offer it the closing checkpoints from this epoch on. */
  | { readonly _tag: "OfferClosing"; readonly from: Epoch }
  /** Ask these members for the highest header of this node's key that they know; answers go to `Core.answered`. */
  | { readonly _tag: "AskOwnHighest"; readonly members: ReadonlyArray<Address> }
  /** Ask each of these members for its own highest header; answers go to `Core.testified`. */
  | { readonly _tag: "AskProgress"; readonly members: ReadonlyArray<Address> }
  /**
   * Another process signs with this node's key, or its disk was set back. The node is unhealthy and stops signing for a
   * while.
   */
  | { readonly _tag: "ForeignOwnHeader"; readonly header: Header }
  /** This node is not a member: sign a heartbeat over this commit and send it to the members. */
  | { readonly _tag: "HeartbeatDue"; readonly commitIndex: CommitIndex; readonly commitHash: Hash }
  /** Fatal, exit code 100. No output follows. */
  | { readonly _tag: "FinalityRollback"; readonly rollback: Rollback }
