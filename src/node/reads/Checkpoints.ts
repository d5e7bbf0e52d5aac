/** Checkpoints signed by a quorum, and proofs against them. */
import { Context, Effect, Layer, Option, Stream } from "effect"
import * as Trie from "../../ledger/trie/Trie.js"
import type { SignedCheckpoint } from "../../protocol/epoch/Checkpoint.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { StateProof } from "../../protocol/state/StateProof.js"
import { Storage } from "../../storage/Storage.js"
import type { StoredCheckpoint } from "../../storage/tables/Checkpoints.js"
import type { RecordedTransaction } from "../../storage/tables/Transactions.js"
import { Engine } from "../engine/Engine.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import * as Inclusion from "./Inclusion.js"

export interface AccountProof {
  readonly key: Hash
  /** The record as stored in the state; none if the account does not exist. */
  readonly record: Option.Option<Uint8Array>
  readonly proof: StateProof
  /** The checkpoint whose state root the proof leads to. */
  readonly signed: SignedCheckpoint
}

export interface Dated {
  readonly signed: SignedCheckpoint
  /** The time of its commit. */
  readonly time: Timestamp | null
}

const final = (stored: Option.Option<StoredCheckpoint>) => Option.filter(stored, ({ hasQuorum }) => hasQuorum)

/**
 * Half of the pieces that peers exchange, since hexadecimal doubles the size. An indivisible leaf can be a little
 * longer.
 */
const PIECE_BYTES = 262_144

const make = Effect.gen(function* () {
  const engine = yield* Engine
  const storage = yield* Storage
  const supervisor = yield* Supervisor
  const stored = yield* storage.checkpoints.latestWithQuorum
  let latestRound = Option.match(stored, {
    onNone: () => Natural.round(0),
    onSome: ({ checkpoint }) => checkpoint.round,
  })
  /** Null if the commit is not stored: a node that has just joined has only the checkpoint. */
  const timeOf = (index: CommitIndex) =>
    Effect.map(storage.commits.at(index), (commit) => Option.getOrNull(Option.map(commit, ({ time }) => time)))
  let latestTime = Option.isNone(stored) ? null : yield* timeOf(stored.value.checkpoint.commitIndex)

  yield* supervisor.restarted(
    "checkpoints",
    Effect.zipRight(
      Stream.runForEach(engine.events, (event) =>
        Effect.gen(function* () {
          if (event._tag !== "CheckpointFinal") return
          const { round, commitIndex } = event.signed.checkpoint
          if (round < latestRound) return
          latestRound = round
          latestTime = yield* timeOf(commitIndex)
        }),
      ),
      Effect.never,
    ),
  )

  return {
    /** The leader round of the last checkpoint signed by a quorum; 0 before the first. */
    latestRound: () => latestRound,
    /** The time of its commit by the committee's clocks; null before the first. */
    latestTime: () => latestTime,
    latest: storage.checkpoints.latestWithQuorum,
    /** Signed by a quorum, by the leader round of its commit. */
    at: (round: Round) => Effect.map(storage.checkpoints.at(round), final),
    byHash: (hash: Hash) => Effect.map(storage.checkpoints.byHash(hash), final),
    closing: (epoch: Epoch) =>
      Effect.map(storage.checkpoints.closing(epoch, 1), ([first]) =>
        Option.filter(final(Option.fromNullable(first)), ({ checkpoint }) => checkpoint.epoch === epoch),
      ),
    /** Signed by a quorum, newest first, before this round, each with the time of its commit if stored. */
    before: (round: Round, limit: number, isClosing: boolean) =>
      Effect.flatMap(storage.checkpoints.before(round, limit, isClosing), (found) =>
        Effect.forEach(found, (signed) =>
          Effect.map(timeOf(signed.checkpoint.commitIndex), (time): Dated => ({ signed, time })),
        ),
      ),
    proveTransaction: ({ vertex, commitIndex }: RecordedTransaction) => Inclusion.of(storage, vertex, commitIndex),
    /** Whether the state is about to be replaced, so that nothing can be proven. */
    isJoining: () => engine.view.isJoining,
    /** The first piece at this position of the closing state of one of the last two epochs; none for other states. */
    statePiece: (root: Hash, position: Uint8Array) =>
      Effect.sync(() => Option.fromNullable(engine.view.closedState(root, position, PIECE_BYTES))),
    /** None until this node holds the state under a checkpoint signed by a quorum. */
    prove: (address: Address) =>
      Effect.sync(() =>
        Option.map(Option.fromNullable(engine.view.provenState), ({ signed, trie }): AccountProof => {
          const key = StateKey.ofAccount(address)
          return { key, record: Option.fromNullable(Trie.get(trie, key)), proof: Trie.prove(trie, key), signed }
        }),
      ),
  }
})

export class Checkpoints extends Context.Tag("udg/Checkpoints")<Checkpoints, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.scoped(Checkpoints, make)
