/** What the consensus asks of its host, as data. The host does them in the order in which they are given. */

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

/** A parent that is missing. */
export interface Wanted {
  readonly parent: Parent
  /** The author of a vertex that names it: who has it, if anybody. */
  readonly namedBy: Address
  /** How often it was asked for before. */
  readonly attempt: number
}

export type Output =
  /** Store it, behind everything stored before it: a restart needs the vertices in this order. */
  | { readonly _tag: "Inserted"; readonly vertex: Vertex }
  /** Fill the body, sign, and write to disk. Then send the vertex to everybody and hand it to `Core.own`. */
  | {
      readonly _tag: "Propose"
      readonly base: Hash
      readonly epoch: Epoch
      readonly round: Round
      readonly parents: ReadonlyArray<Parent>
      readonly coinbase: Sats
      readonly timestamp: Timestamp
    }
  /** Execute it. `closes` says that it is the epoch's last. */
  | ({ readonly _tag: "Committed"; readonly closes: boolean } & OrderedCommit)
  /** Ask somebody for these vertices. */
  | { readonly _tag: "Fetch"; readonly wanted: ReadonlyArray<Wanted> }
  /** Ask somebody for all vertices of these rounds, in the order that peer inserted them. */
  | { readonly _tag: "CatchUp"; readonly epoch: Epoch; readonly fromRound: Round; readonly toRound: Round }
  /** The vertex breaks a rule; whoever sent it made or forwarded it without looking. */
  | { readonly _tag: "Invalid"; readonly vertex: Vertex; readonly error: InvalidVertex }
  | { readonly _tag: "EvidenceFound"; readonly evidence: Evidence }
  /** Own vertices that no commit will order any more: their transactions belong back in the mempool. */
  | { readonly _tag: "Returned"; readonly vertices: ReadonlyArray<Vertex> }
  /** Sign it, send the signature to everybody, and hand it to `Core.checkpointSigned`. */
  | { readonly _tag: "SignCheckpoint"; readonly checkpoint: Checkpoint }
  /** A quorum has signed it. Store it. */
  | { readonly _tag: "CheckpointFinal"; readonly signed: SignedCheckpoint }
  | { readonly _tag: "EpochStarted"; readonly opening: Opening }
  /** Send these again, to everybody: something did not arrive. */
  | {
      readonly _tag: "Resend"
      readonly vertices: ReadonlyArray<Vertex>
      readonly closing: { readonly checkpoint: Checkpoint; readonly signature: CheckpointSignature } | null
    }
  /** The sender of what was just received is epochs ahead: ask it for the closing checkpoints from this epoch on. */
  | { readonly _tag: "AskClosing"; readonly from: Epoch }
  /** The sender of what was just received is behind: offer it the closing checkpoints from this epoch on. */
  | { readonly _tag: "OfferClosing"; readonly from: Epoch }
  /** Ask these members for the highest header of this node's key that they know; answers go to `Core.answered`. */
  | { readonly _tag: "AskOwnHighest"; readonly members: ReadonlyArray<Address> }
  /** Somebody else signs with this node's key, or its disk was set back: unhealthy. Nothing is signed for a while. */
  | { readonly _tag: "ForeignOwnHeader"; readonly header: Header }
  /** This node is no member: sign a heartbeat over this commit and send it to the members. */
  | { readonly _tag: "HeartbeatDue"; readonly commitIndex: CommitIndex; readonly commitHash: Hash }
  /** Fatal, exit code 100. Nothing comes after it. */
  | { readonly _tag: "FinalityRollback"; readonly rollback: Rollback }
