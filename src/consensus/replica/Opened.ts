/** The parts of a replica as its disk left them, checked before anything is done with them. */
import { Data, Either } from "effect"
import type * as HalfSipHash from "../../ledger/HalfSipHash.js"
import { Ledger } from "../../ledger/Ledger.js"
import type { SupplyInvariantViolated } from "../../ledger/Supply.js"
import * as Trie from "../../ledger/trie/Trie.js"
import type { MalformedBytes } from "../../protocol/Binary.js"
import * as Checkpoint from "../../protocol/Checkpoint.js"
import type { CommitIndex } from "../../protocol/Counter.js"
import type { Hash } from "../../protocol/Hash.js"
import * as StateKey from "../../protocol/StateKey.js"
import * as StateRecord from "../../protocol/StateRecord.js"
import type { StoredEpoch } from "../Core.js"
import * as GenesisState from "./GenesisState.js"
import { StateViews } from "./StateViews.js"
import type { Contents, Stored } from "./Stored.js"

/** The records are not those that were there when the last checkpoint was built. */
export class DamagedState extends Data.TaggedError("DamagedState")<{
  readonly commitIndex: CommitIndex
  readonly found: Hash
  readonly expected: Hash
}> {
  override get message(): string {
    return `commit ${this.commitIndex}: the stored state has the root ${this.found}, its checkpoint says ${this.expected}`
  }
}

export type CannotOpen = MalformedBytes | SupplyInvariantViolated | DamagedState

export interface Opened {
  readonly ledger: Ledger
  /** The state as of now. */
  readonly trie: Trie.Trie
  readonly views: StateViews
  /** The last commit closes the epoch, and nothing says that its checkpoint was built: here it is, with its size. */
  readonly closing: { readonly checkpoint: Checkpoint.Checkpoint; readonly bytes: number } | null
}

const checkpointAt = ({ current, previous }: Contents, index: CommitIndex): Checkpoint.Checkpoint | undefined =>
  [current, previous]
    .flatMap((epoch) =>
      epoch === null ? [] : [...epoch.checkpoints, ...epoch.signed.map(({ checkpoint }) => checkpoint)],
    )
    .find(({ commitIndex }) => commitIndex === index)

/** The root an epoch closed with, as this node built or was given it. */
const closingRootOf = (stored: Contents, epoch: number): Hash | undefined =>
  [stored.current, stored.previous]
    .flatMap((each) => each?.checkpoints ?? [])
    .concat(stored.closings.map(({ checkpoint }) => checkpoint))
    .find((checkpoint) => checkpoint.epoch === epoch && checkpoint.nextEpoch !== null)?.stateRoot

const viewsOf = (stored: Contents, trie: Trie.Trie): StateViews => {
  const views = new StateViews(
    stored.views.flatMap(({ epoch, before }) => {
      const root = closingRootOf(stored, epoch)
      const changes = before.map(({ kind, key, value }) => ({
        key: StateKey.hash(kind, key),
        value: value && StateRecord.encode({ kind, key, value }),
      }))
      const view = Trie.apply(trie, changes)
      return view.hash === root ? [view] : []
    }),
  )
  const latest = stored.closings.at(-1)
  if (latest !== undefined) views.final(latest)
  return views
}

const closingOf = (ledger: Ledger, trie: Trie.Trie, { opening, checkpoints }: StoredEpoch): Opened["closing"] => {
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

/** The parts of a replica whose supply was counted and whose `trie` was made of the ledger's records. */
export const judge = (stored: Contents, ledger: Ledger, trie: Trie.Trie): Either.Either<Opened, DamagedState> => {
  const { index } = ledger.read.head
  const expected = checkpointAt(stored, index)?.stateRoot
  if (expected !== undefined && expected !== trie.hash) {
    return Either.left(new DamagedState({ commitIndex: index, found: trie.hash, expected }))
  }
  return Either.right({
    ledger,
    trie,
    views: viewsOf(stored, trie),
    closing: closingOf(ledger, trie, stored.current),
  })
}

const checked = (stored: Contents, ledger: Ledger): Either.Either<Opened, CannotOpen> =>
  Either.flatMap(ledger.recount(), () =>
    judge(stored, ledger, Trie.apply(Trie.empty, GenesisState.changesOf(ledger.records()))),
  )

export const open = (stored: Stored, tableKey: HalfSipHash.Key): Either.Either<Opened, CannotOpen> =>
  Either.flatMap(
    Ledger.fromRecords(stored.genesis.protocol, tableKey, stored.records, stored.effectsDigest),
    (ledger) => checked(stored, ledger),
  )
