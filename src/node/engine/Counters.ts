/** Counts events. Figures without a prefix are totals since this process began; the others are current values. */

import type { Execution } from "../../ledger/rules/Execution.js"
import type { CommitIndex } from "../../protocol/numbers/Natural.js"
import type { Output } from "../../replica/output/Output.js"
import type { Write } from "../../replica/output/Write.js"
import type { NodeEvent } from "./NodeEvent.js"

const NOTHING = {
  checkpointsProduced: 0,
  checkpointProductionMs: 0,
  checkpointBytes: 0,
  checkpointsCosigned: 0,
  checkpointQuorums: 0,
  checkpointValidationFailures: 0,
  fastSyncs: 0,
  checkpointsPersisted: 0,
  /** Final and recorded, applied or failed. */
  transactions: 0,
  /** On disk or being written, of all epochs. */
  vertices: 0,
  /** Messages and questions of peers that a bug kept from being judged. */
  judgingFailures: 0,
  /** Connected, as the network last reported. */
  peers: 0,
}

export type Counts = Readonly<typeof NOTHING>

/** How many of the transactions of a commit had an effect, if only that their fee was charged. */
export const withEffect = ({ vertices }: Pick<Execution, "vertices">): number => {
  let count = 0
  for (const { transactions } of vertices) {
    for (const { _tag } of transactions) if (_tag !== "NoEffect") count++
  }
  return count
}

export class Counters {
  readonly #counts: typeof NOTHING
  /** Commit times of the checkpoints being built. */
  readonly #building = new Map<CommitIndex, number>()

  constructor(vertices: number) {
    this.#counts = { ...NOTHING, vertices }
  }

  /** Live counts, not a copy. */
  get counts(): Counts {
    return this.#counts
  }

  /** Counts the replica's outputs. */
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
    // This includes skipped ones.
    for (const index of this.#building.keys()) if (index <= checkpoint.commitIndex) this.#building.delete(index)
    counts.checkpointsProduced++
    counts.checkpointBytes = bytes
    if (begun !== undefined) counts.checkpointProductionMs = performance.now() - begun
    if (isCosigned) counts.checkpointsCosigned++
  }

  /** Counts events that are on disk. */
  published(event: NodeEvent): void {
    if (event._tag === "CheckpointBuilt") this.#counts.checkpointsPersisted++
    else if (event._tag === "Joined") this.#counts.fastSyncs++
    else if (event._tag === "Executed") this.#counts.transactions += withEffect(event.execution)
  }

  connected(peers: number): void {
    this.#counts.peers = peers
  }

  /** A peer sent a checkpoint under a signature that does not hold. */
  checkpointRefused(): void {
    this.#counts.checkpointValidationFailures++
  }

  /** A bug showed while a message was judged, and the message was dropped. */
  judgingFailed(): void {
    this.#counts.judgingFailures++
  }

  /** This many vertices were deleted from disk. */
  pruned(vertices: number): void {
    this.#counts.vertices -= vertices
  }
}
