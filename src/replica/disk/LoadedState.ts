/** A replica's parts as loaded from disk, checked before use. */
import { Data, Either } from "effect"
import type { StoredEpoch } from "../../consensus/output/StoredEpoch.js"
import type { Ledger } from "../../ledger/Ledger.js"
import type { Change } from "../../ledger/tables/Effects.js"
import type * as Trie from "../../ledger/trie/Trie.js"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Epoch } from "../../protocol/numbers/Natural.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as StateRecord from "../../protocol/state/StateRecord.js"
import { StateViews } from "../live/StateViews.js"
import { disagreementIn } from "./Agreement.js"
import type { StoredState } from "./StoredState.js"

/** The stored records differ from those under the last checkpoint. */
export class DamagedState extends Data.TaggedError("DamagedState")<{
  readonly commitIndex: CommitIndex
  readonly found: Hash
  readonly expected: Hash
}> {
  override get message(): string {
    return `commit ${this.commitIndex}: the stored state has root ${this.found}, its checkpoint has root ${this.expected}`
  }
}

export class ContradictoryState extends Data.TaggedError("ContradictoryState")<{ readonly finding: string }> {
  override get message(): string {
    return this.finding
  }
}

export interface ClosedState {
  readonly epoch: Epoch
  readonly trie: Trie.Trie
}

export interface LoadedState {
  readonly ledger: Ledger
  readonly trie: Trie.Trie
  readonly views: StateViews
  /**
   * Set if the last commit closes the epoch and no record says that its checkpoint was built: the checkpoint and its
   * size.
   */
  readonly closing: { readonly checkpoint: Checkpoint.Checkpoint; readonly bytes: number } | null
}

const checkpointAt = ({ current, previous }: StoredState, index: CommitIndex): Checkpoint.Checkpoint | undefined =>
  [current, previous]
    .flatMap((epoch) =>
      epoch === null ? [] : [...epoch.checkpoints, ...epoch.signed.map(({ checkpoint }) => checkpoint)],
    )
    .find(({ commitIndex }) => commitIndex === index)

/** The root at an epoch's close, as built or received by this node. */
const closingRootOf = (stored: StoredState, epoch: number): Hash | undefined =>
  [stored.current, stored.previous]
    .flatMap((each) => each?.checkpoints ?? [])
    .concat(stored.closings.map(({ checkpoint }) => checkpoint))
    .find((checkpoint) => checkpoint.epoch === epoch && checkpoint.nextEpoch !== null)?.stateRoot

/** The trie change that restores a record's former value. */
export const placed = ({ kind, key, value }: Change): Trie.Change => ({
  key: StateKey.hash(kind, key),
  value: value && StateRecord.encode({ kind, key, value }),
})

/** A state that differs from its epoch's closing root is dropped: the changes back to it are incomplete. */
const viewsOf = (stored: StoredState, closed: ReadonlyArray<ClosedState>): StateViews =>
  new StateViews(closed.flatMap(({ epoch, trie }) => (trie.hash === closingRootOf(stored, epoch) ? [trie] : [])))

const closingOf = (ledger: Ledger, trie: Trie.Trie, { opening, checkpoints }: StoredEpoch): LoadedState["closing"] => {
  const { head, epoch, totals } = ledger.read
  const isBuilt = checkpoints.some(({ nextEpoch }) => nextEpoch !== null)
  if (epoch.epoch === opening.record.epoch || isBuilt) return null
  const checkpoint = Checkpoint.make({
    epoch: opening.record.epoch,
    round: head.leaderRound,
    commitIndex: head.index,
    commitHash: head.hash,
    effectsDigest: ledger.effectsDigest,
    stateRoot: trie.hash,
    totalSupply: totals.total,
    nextEpoch: epoch,
    previous: opening.base,
  })
  return { checkpoint, bytes: trie.bytes }
}

/**
 * Checks a replica's parts. The supply is counted and `trie` holds the ledger's records. `closed`: the last closes,
 * oldest first.
 */
export const check = (
  stored: StoredState,
  ledger: Ledger,
  trie: Trie.Trie,
  closed: ReadonlyArray<ClosedState>,
): Either.Either<LoadedState, DamagedState | ContradictoryState> => {
  const finding = disagreementIn(stored, ledger)
  if (finding !== null) return Either.left(new ContradictoryState({ finding }))
  const { index } = ledger.read.head
  const expected = checkpointAt(stored, index)?.stateRoot
  if (expected !== undefined && expected !== trie.hash) {
    return Either.left(new DamagedState({ commitIndex: index, found: trie.hash, expected }))
  }
  const closing = closingOf(ledger, trie, stored.current)
  // The closing state is the current one and must not also replace an older one.
  const views = viewsOf(
    stored,
    closed.filter(({ epoch }) => epoch !== closing?.checkpoint.epoch),
  )
  if (closing !== null) views.built(closing.checkpoint, trie)
  const latest = stored.closings.at(-1)
  if (latest !== undefined) views.final(latest)
  return Either.right({ ledger, trie, views, closing })
}
