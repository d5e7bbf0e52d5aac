/**
 * Carries out the replica's writes one after the other. Each is one transaction, so none is ever half done. `Write.fileOf` and
 * `Write.syncsLedger` say which file a write goes to and which writes must be synced.
 */
import type { Effect } from "effect"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { Write } from "../../replica/output/Write.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import type { Storage } from "../../storage/Storage.js"
import * as CommitBatch from "../../storage/tables/CommitBatch.js"
import type { AlreadySigned } from "../../storage/tables/SignedVertices.js"

/** A run of insertions becomes one transaction; any other write has its own. */
export type Batch =
  | Exclude<Write, { readonly _tag: "Inserted" }>
  | { readonly _tag: "InsertedAll"; readonly vertices: ReadonlyArray<Vertex> }

export const batched = (writes: ReadonlyArray<Write>): ReadonlyArray<Batch> => {
  const batches: Array<Batch> = []
  let run: Array<Vertex> = []
  const end = () => {
    if (run.length > 0) batches.push({ _tag: "InsertedAll", vertices: run })
    run = []
  }
  for (const write of writes) {
    if (write._tag === "Inserted") {
      run.push(write.vertex)
      continue
    }
    end()
    batches.push(write)
  }
  end()
  return batches
}

export const keep = (
  storage: typeof Storage.Service,
  batch: Batch,
  now: Timestamp,
): Effect.Effect<void, AlreadySigned | StorageError> => {
  switch (batch._tag) {
    case "OwnVertex":
      return storage.keepOwn(batch.vertex)
    case "InsertedAll":
      return storage.vertices.insert(batch.vertices)
    case "Executed": {
      const { execution, vertices, settled } = batch
      return storage.appendCommit(CommitBatch.fromExecution(execution, vertices, settled))
    }
    case "CheckpointBuilt":
      return storage.checkpoints.putBuilt(batch.checkpoint)
    case "CheckpointFinal":
      return storage.checkpoints.put({ ...batch.signed, hasQuorum: true })
    case "EpochStarted":
      return storage.epochs.begin(batch.opening)
    case "Pending":
      return storage.pending.update(batch.added, batch.removed)
    case "ForeignOwnHeader":
      return storage.signed.keepForeign(batch.header, now)
    case "JoinBegun":
      return storage.joins.begin(batch.target)
    case "JoinSubtree":
      return storage.joins.add(batch.subtree)
    case "Joined":
      return storage.replaceState(batch)
  }
}
