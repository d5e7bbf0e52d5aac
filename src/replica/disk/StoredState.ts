/** Where a replica resumes: its disk contents without the records of the state. */
import type { EndedEpoch, StoredEpoch } from "../../consensus/output/StoredEpoch.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Genesis } from "../../protocol/epoch/Genesis.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { ReceivedTransaction } from "../output/Write.js"

export interface StoredJoin {
  readonly target: SignedCheckpoint
  readonly subtrees: ReadonlyArray<Uint8Array>
}

export interface StoredState {
  readonly genesis: Genesis
  readonly current: StoredEpoch
  readonly previous: EndedEpoch | null
  /** Signed here in the running epoch and the one before. */
  readonly ownVertices: Iterable<Vertex>
  /** The last vertex for a remote signer, signed or not. */
  readonly intent: Vertex | null
  /** Stored beside own vertices since the ledger's file was synced, in the order of their `Inserted`. */
  readonly companions: ReadonlyArray<Vertex>
  /** Signed with this node's key, but not by this node. */
  readonly foreignHeaders: Iterable<Header>
  readonly pending: Iterable<ReceivedTransaction>
  /** Signed closing checkpoints by epoch, at least the last two. */
  readonly closings: ReadonlyArray<SignedCheckpoint>
  readonly join: StoredJoin | null
}
