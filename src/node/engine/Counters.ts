/** Figures that are counted as things happen: those without a prefix since this process began, and what is there now. */

import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import type { Output } from "../../replica/output/Output.js"
import type { Write } from "../../replica/output/Write.js"
import type { NodeEvent } from "./NodeEvent.js"

export interface Counts {
  readonly checkpointsProduced: number
  readonly checkpointProductionMs: number
  readonly checkpointBytes: number
  readonly checkpointsCosigned: number
  readonly checkpointQuorums: number
  readonly checkpointValidationFailures: number
  readonly fastSyncs: number
  readonly checkpointsPersisted: number
  /** On the disk or on the way there, of all epochs. */
  readonly vertices: number
  /** Messages and questions of peers that a bug kept from being judged. */
  readonly judgingFailures: number
  /** Connected, as the network said last. */
  readonly peers: number
}

export class Counters {
  readonly #counts: { -readonly [K in keyof Counts]: number }
  /** When the commits of checkpoints in the making were executed. */
  readonly #building = new Map<CommitIndex, number>()

  constructor(vertices: number) {
    this.#counts = {
      checkpointsProduced: 0,
      checkpointProductionMs: 0,
      checkpointBytes: 0,
      checkpointsCosigned: 0,
      checkpointQuorums: 0,
      checkpointValidationFailures: 0,
      fastSyncs: 0,
      checkpointsPersisted: 0,
      vertices,
      judgingFailures: 0,
      peers: 0,
    }
  }

  /** As they are now and will be. */
  get counts(): Counts {
    return this.#counts
  }

  /** Counts what the replica puts out. */
  putOut(output: Output): void {
    if (output._tag === "Write") this.#written(output.write)
    const isWrongState = output._tag === "Misbehaved" && output.error._tag === "WrongState"
    if (isWrongState) this.#counts.checkpointValidationFailures++
  }

  #written(write: Write): void {
    const counts = this.#counts
    switch (write._tag) {
      case "Executed":
        if (write.execution.isCheckpointDue) this.#building.set(write.execution.commit.index, performance.now())
        return
      case "CheckpointBuilt":
        this.#built(write)
        return
      case "CheckpointFinal":
        counts.checkpointQuorums++
        return
      case "Inserted":
        counts.vertices++
    }
  }

  #built({ checkpoint, bytes, isCosigned }: Extract<Write, { readonly _tag: "CheckpointBuilt" }>): void {
    const counts = this.#counts
    const begun = this.#building.get(checkpoint.commitIndex)
    // Also of those that were skipped.
    for (const index of this.#building.keys()) if (index <= checkpoint.commitIndex) this.#building.delete(index)
    counts.checkpointsProduced++
    counts.checkpointBytes = bytes
    if (begun !== undefined) counts.checkpointProductionMs = performance.now() - begun
    if (isCosigned) counts.checkpointsCosigned++
  }

  /** Counts what is on the disk now. */
  published(event: NodeEvent): void {
    if (event._tag === "CheckpointBuilt") this.#counts.checkpointsPersisted++
    else if (event._tag === "Joined") this.#counts.fastSyncs++
  }

  connected(peers: number): void {
    this.#counts.peers = peers
  }

  /** Somebody sent a checkpoint under a signature that does not hold. */
  checkpointRefused(): void {
    this.#counts.checkpointValidationFailures++
  }

  /** A bug came to light while a message was judged, which ended with it. */
  judgingFailed(): void {
    this.#counts.judgingFailures++
  }

  /** So many vertices went from the disk. */
  pruned(vertices: number): void {
    this.#counts.vertices -= vertices
  }
}
