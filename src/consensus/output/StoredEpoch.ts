/** The part of an epoch that is kept so that a restart resumes where the node was. */
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { ExecutedCommit } from "../commit/Rollback.js"
import type { Opening } from "./Opening.js"

/** An epoch's data on disk. */
export interface StoredEpoch {
  readonly opening: Opening
  /** In the order of their `Inserted`. For a finished epoch, this node's own vertices suffice. */
  readonly vertices: ReadonlyArray<Vertex>
  /** In order, from the epoch's first. */
  readonly commits: ReadonlyArray<ExecutedCommit>
  /** Built by this node. */
  readonly checkpoints: ReadonlyArray<Checkpoint>
  /** Signed by a quorum. */
  readonly signed: ReadonlyArray<SignedCheckpoint>
}

/** The part of the epoch before the running one that is still needed. */
export interface EndedEpoch extends StoredEpoch {
  /** The highest inserted header of each author: members that start again ask for theirs. */
  readonly highestHeaders: ReadonlyArray<Header>
}

/** An epoch in which nothing has happened yet. */
export const freshEpoch = (opening: Opening): StoredEpoch => ({
  opening,
  vertices: [],
  commits: [],
  checkpoints: [],
  signed: [],
})
