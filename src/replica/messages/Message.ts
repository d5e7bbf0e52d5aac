/** The messages between nodes, as plain data. The network encodes them. */

import type { Checkpoint, CheckpointSignature, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Evidence as EvidenceOf } from "../../protocol/vertex/Evidence.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Heartbeat as HeartbeatOf } from "../../protocol/vertex/Heartbeat.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"

/** Size limit of an answer, in vertices or closing checkpoints; a single item always passes. */
export const ANSWER_BYTES = 2_097_152
export const ASKED_VERTICES = 256
export const ANSWERED_CHECKPOINTS = 16

/**
 * Sent to all peers, by any means the host has. `V` is the form of the vertices: those not judged yet and those from
 * disk stay bytes (`Vertex.Encoded`).
 */
export type Gossip<V = Vertex> =
  | { readonly _tag: "Vertices"; readonly vertices: ReadonlyArray<V> }
  | { readonly _tag: "Transactions"; readonly transactions: ReadonlyArray<Transaction> }
  | { readonly _tag: "Heartbeat"; readonly heartbeat: HeartbeatOf }
  | { readonly _tag: "Evidence"; readonly evidence: EvidenceOf }
  | {
      readonly _tag: "CheckpointSignature"
      readonly checkpoint: Checkpoint
      readonly signature: CheckpointSignature
    }

/** Questions that the host answers from its disk (`node/engine/Archive`), in pages: see `PageLimit`. */
export type DiskQuestion =
  | { readonly _tag: "AskVertices"; readonly hashes: ReadonlyArray<Hash> }
  /**
   * All vertices of these rounds in the asked node's insertion order, as far as an answer reaches. `after`: the last
   * one of the previous answer.
   */
  | {
      readonly _tag: "AskRounds"
      readonly epoch: Epoch
      readonly fromRound: Round
      readonly toRound: Round
      readonly after: Hash | null
    }
  /** The closing checkpoints from this epoch on, and the newest. */
  | { readonly _tag: "AskClosing"; readonly from: Epoch }

/** Questions that the replica answers itself. */
export type Question =
  /** The highest header of this author known to the asked node. */
  | { readonly _tag: "AskHighest"; readonly author: Address }
  /** The subtree at an encoded `Position` of the state with this root, up to a size limit. */
  | { readonly _tag: "AskState"; readonly root: Hash; readonly position: Uint8Array }

export type Answer<V = Vertex> =
  | { readonly _tag: "Vertices"; readonly vertices: ReadonlyArray<V> }
  /** `isLast`: the asked node has no more of them. */
  | {
      readonly _tag: "Rounds"
      readonly epoch: Epoch
      readonly vertices: ReadonlyArray<V>
      readonly isLast: boolean
    }
  | {
      readonly _tag: "Closing"
      readonly signed: ReadonlyArray<SignedCheckpoint>
      readonly newest: SignedCheckpoint | null
    }
  /** `epoch`: the asked node's epoch. */
  | { readonly _tag: "Highest"; readonly author: Address; readonly epoch: Epoch; readonly header: Header | null }
  /** An encoded `Subtree`; null if the asked node does not hold that state. */
  | { readonly _tag: "State"; readonly root: Hash; readonly subtree: Uint8Array | null }

export type Message<V = Vertex> = Gossip<V> | DiskQuestion | Question | Answer<V>
