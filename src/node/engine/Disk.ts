/**
 * Executes the replica's writes in order, each in one transaction. `Write.fileOf` and `Write.syncsLedger` define which
 * file a write goes to and which writes are synced.
 */
import { Effect } from "effect"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Write } from "../../replica/output/Write.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import type { Entry, Storage } from "../../storage/Storage.js"
import * as CommitBatch from "../../storage/tables/CommitBatch.js"
import type { AlreadySigned } from "../../storage/tables/SignedVertices.js"

export type Ledger = Extract<Write, { readonly _tag: "Inserted" | "Executed" }>

/** One transaction: vertices and commits together, optionally followed by one write of another kind. */
export interface Batch {
  readonly together: ReadonlyArray<Ledger>
  readonly last: Exclude<Write, Ledger> | null
}

export const isTogether = (write: Write): write is Ledger => write._tag === "Inserted" || write._tag === "Executed"

export const batched = (writes: ReadonlyArray<Write>): ReadonlyArray<Batch> => {
  const batches: Array<Batch> = []
  let together: Array<Ledger> = []
  for (const write of writes) {
    if (isTogether(write)) {
      together.push(write)
      continue
    }
    batches.push({ together, last: write })
    together = []
  }
  if (together.length > 0) batches.push({ together, last: null })
  return batches
}

const entryOf = (write: Ledger): Entry =>
  write._tag === "Inserted"
    ? write
    : { _tag: "Commit", batch: CommitBatch.fromExecution(write.execution, write.vertices, write.settled) }

const keepLast = (
  storage: typeof Storage.Service,
  write: Exclude<Write, Ledger | { readonly _tag: "OwnVertex" | "Intent" }>,
  now: Timestamp,
): Effect.Effect<void, StorageError> => {
  switch (write._tag) {
    case "CheckpointBuilt":
      return storage.checkpoints.putBuilt(write.checkpoint)
    case "CheckpointFinal":
      return storage.checkpoints.put({ ...write.signed, hasQuorum: true })
    case "EpochStarted":
      return storage.epochs.begin(write.opening)
    case "Pending":
      return storage.pending.update(write.added, write.removed)
    case "ForeignOwnHeader":
      return storage.signed.keepForeign(write.header, now)
    case "JoinBegun":
      return storage.joins.begin(write.target)
    case "JoinSubtree":
      return storage.joins.add(write.subtree)
    case "Joined":
      return storage.replaceState(write)
  }
}

export const keep = (
  storage: typeof Storage.Service,
  { together, last }: Batch,
  now: Timestamp,
): Effect.Effect<void, AlreadySigned | StorageError> => {
  const entries = together.map(entryOf)
  if (last?._tag === "OwnVertex") return storage.keepOwn(last.vertex, last.companions, entries)
  if (last?._tag === "Intent") return storage.keepIntent(last.vertex, last.companions, entries)
  const before = entries.length === 0 ? Effect.void : storage.append(entries)
  return last === null ? before : Effect.zipRight(before, keepLast(storage, last, now))
}
