/** What is kept of an epoch so that a restart goes on where it was. */
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { ExecutedCommit } from "../commit/Rollback.js"
import type { Opening } from "./Opening.js"

/** What the disk holds of an epoch. */
export interface StoredEpoch {
  readonly opening: Opening
  /** In the order of their `Inserted`. Of an epoch that is over, the own ones suffice. */
  readonly vertices: ReadonlyArray<Vertex>
  /** In order, from the epoch's first. */
  readonly commits: ReadonlyArray<ExecutedCommit>
  /** Built by this node. */
  readonly checkpoints: ReadonlyArray<Checkpoint>
  /** Signed by a quorum. */
  readonly signed: ReadonlyArray<SignedCheckpoint>
}

/** What is still needed of the epoch before the running one. */
export interface EndedEpoch extends StoredEpoch {
  /** Of each author the highest that was inserted: members that start anew ask for theirs. */
  readonly highestHeaders: ReadonlyArray<Header>
}

/** An epoch of which nothing has happened yet. */
export const freshEpoch = (opening: Opening): StoredEpoch => ({
  opening,
  vertices: [],
  commits: [],
  checkpoints: [],
  signed: [],
})

/** An epoch of which every vertex is still at hand, once the next one begins. */
export const endedEpoch = (epoch: StoredEpoch): EndedEpoch => {
  const highest = new Map<Address, Header>()
  for (const { header } of epoch.vertices) {
    if (header.round > (highest.get(header.author)?.round ?? -1)) highest.set(header.author, header)
  }
  return { ...epoch, highestHeaders: [...highest.values()] }
}
