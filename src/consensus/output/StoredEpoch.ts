/** The part of an epoch that is stored so that a restart resumes where the node was. */
import type { Checkpoint, SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Header } from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { ExecutedCommit } from "../commit/Rollback.js"
import type { Opening } from "./Opening.js"

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

/** The part of the previous epoch that is still needed. */
export interface EndedEpoch extends StoredEpoch {
  /** The highest inserted header of each author, for members that restart and ask for theirs. */
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
