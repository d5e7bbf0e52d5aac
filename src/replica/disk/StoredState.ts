/** The part of a replica's disk that is not the records of its state: where the replica resumes. */
import type { EndedEpoch, StoredEpoch } from "../../consensus/output/StoredEpoch.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Genesis } from "../../protocol/epoch/Genesis.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { ReceivedTransaction } from "../output/Write.js"

/** How far a fast sync has come. */
export interface StoredJoin {
  readonly target: SignedCheckpoint
  readonly subtrees: ReadonlyArray<Uint8Array>
}

export interface StoredState {
  readonly genesis: Genesis
  readonly current: StoredEpoch
  readonly previous: EndedEpoch | null
  /** Signed here, of the running epoch and the one before. */
  readonly ownVertices: Iterable<Vertex>
  /** The last vertex that was to be signed elsewhere, whether or not it was. */
  readonly intent: Vertex | null
  /** Kept beside those since the ledger's file was synced, in the order of their `Inserted`. */
  readonly companions: ReadonlyArray<Vertex>
  /** Signed with this node's key, but not by this node. */
  readonly foreignHeaders: Iterable<Header>
  /** In the order of their arrival. */
  readonly pending: Iterable<ReceivedTransaction>
  /** Signed closing checkpoints in the order of their epochs, at least the last two. */
  readonly closings: ReadonlyArray<SignedCheckpoint>
  readonly join: StoredJoin | null
}
