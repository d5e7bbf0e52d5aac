/**
 * Deletes old vertices, their commits, checkpoints within epochs, and own signed vertices that are no longer needed, a
 * few at a time; with `--history`, also old transactions and histories. A running node does this continuously. On a
 * stopped node, everything old can be deleted at once, including histories.
 */
import { Duration, Effect, Layer, Option } from "effect"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { StorageError } from "../../storage/files/StorageError.js"
import { Storage } from "../../storage/Storage.js"
import type * as Prune from "../../storage/tables/Prune.js"
import * as EventLoop from "../../turns/EventLoop.js"
import { Engine } from "../engine/Engine.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import * as Log from "../log/Log.js"
import { Configuration } from "../start/Configuration.js"
import * as Loading from "../start/Loading.js"

const log = Log.for("storage")

/** Vertices older than this are deleted, except those of the running epoch and the one before. */
export const KEPT_ROUNDS = 10_000
/** Takes about ten milliseconds, during which nothing else is written. */
const VERTICES_PER_TURN = 200
/** The same for small, adjacent rows. */
const SMALL_ROWS_PER_TURN = 2_000
/** The same for rows with the signatures of up to a hundred validators. */
const SIGNED_ROWS_PER_TURN = 50
const PAUSE = Duration.millis(50)
/** Also takes about ten milliseconds. */
const TRANSACTIONS_PER_TURN = 250
/** Short, so that even a busy node deletes more than it executes. */
const TRANSACTIONS_PAUSE = Duration.millis(10)
const EVERY = Duration.seconds(30)

export interface Bounds {
  /** Rounds below this one are deleted … */
  readonly beforeRound: Natural.Round
  /** … except those of the running epoch, this one, and the one before. */
  readonly running: Natural.Epoch
}

const boundsOf = (round: number, running: Natural.Epoch, keptRounds: number): Bounds => ({
  beforeRound: Natural.round(Math.max(0, round - keptRounds)),
  running,
})

const oldestKept = ({ running }: Bounds): Natural.Epoch => Natural.epoch(Math.max(0, running - 1))

const requestOf = (bounds: Bounds, limit: number): Prune.Request => ({
  beforeRound: bounds.beforeRound,
  beforeEpoch: oldestKept(bounds),
  limit,
})

/** Deletes in batches with a rest in between; returns the number of deleted rows. */
const inTurns = (limit: number, rest: Effect.Effect<void>, take: Effect.Effect<number, StorageError>) =>
  Effect.gen(function* () {
    let gone = 0
    for (;;) {
      const taken = yield* take
      gone += taken
      if (taken < limit) return gone
      yield* rest
    }
  })

const vertices = (bounds: Bounds, rest: Effect.Effect<void>, onPruned: (count: number) => void) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const take = storage.vertices.prune(requestOf(bounds, VERTICES_PER_TURN))
    const counted = Effect.tap(take, (gone) => Effect.sync(() => onPruned(gone)))
    const pruned = yield* inTurns(VERTICES_PER_TURN, rest, counted)
    if (pruned > 0) yield* log.debug("old vertices pruned", { vertices: pruned, before: bounds.beforeRound })
    return pruned
  })

/** Commits whose vertices are deleted. Transactions keep the record of their commit. */
const commits = (bounds: Bounds, rest: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    while (yield* storage.commits.prune(requestOf(bounds, SMALL_ROWS_PER_TURN))) yield* rest
  })

/** Except those that close an epoch: joining nodes follow them from the genesis. */
const checkpoints = (bounds: Bounds, rest: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    while (yield* storage.checkpoints.prune(requestOf(bounds, SIGNED_ROWS_PER_TURN))) yield* rest
  })

/** From commits older than every kept vertex: vertices need their transactions, whose bytes are stored once. */
const transactions = (bounds: Bounds, rest: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const first = yield* storage.commits.firstSince(bounds.beforeRound, oldestKept(bounds))
    if (Option.isNone(first)) return 0
    let pruned = 0
    for (;;) {
      const gone = yield* storage.transactions.prune(first.value, TRANSACTIONS_PER_TURN)
      if (gone === 0) break
      pruned += gone
      yield* rest
    }
    if (pruned > 0) yield* log.debug("old transactions pruned", { transactions: pruned, before: bounds.beforeRound })
    return pruned
  })

/** Closing states that are no longer served to joining nodes. */
const closedStates = (running: Natural.Epoch, rest: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const oldest = Natural.epoch(Math.max(0, running - Loading.KEPT_CLOSES))
    return yield* inTurns(SMALL_ROWS_PER_TURN, rest, storage.closedStates.prune(oldest, SMALL_ROWS_PER_TURN))
  })

const own = (bounds: Bounds) => Effect.flatMap(Storage, ({ signed }) => signed.prune(oldestKept(bounds)))

/**
 * The epoch of the last written commit. The core can be epochs ahead of it while the disk or an archive's database is
 * slow: stored vertices still wait for the commit that orders them, and a restart begins there.
 */
const writtenEpoch = Effect.gen(function* () {
  const last = yield* (yield* Storage).commits.last
  return Option.match(last, { onNone: () => Natural.epoch(0), onSome: ({ epoch }) => epoch })
})

export const once: Effect.Effect<void, StorageError, Engine | Storage | Configuration> = Effect.gen(function* () {
  const { archive, history } = yield* Configuration
  const { view, pulse, counters } = yield* Engine
  const rest = Effect.sleep(PAUSE)
  const keptRounds = Math.min(
    KEPT_ROUNDS,
    Option.getOrElse(history, () => KEPT_ROUNDS),
  )
  const { round } = pulse()
  const written = yield* writtenEpoch
  const epoch = Natural.epoch(Math.min(view.core.epoch.opening.record.epoch, written))
  const bounds = boundsOf(round, epoch, keptRounds)
  yield* own(bounds)
  yield* closedStates(Natural.epoch(Math.min(view.read.epoch.epoch, written)), rest)
  if (archive) return
  yield* vertices(bounds, rest, (gone) => counters.pruned(gone))
  if (Option.isSome(history))
    yield* transactions(boundsOf(round, epoch, history.value), Effect.sleep(TRANSACTIONS_PAUSE))
  yield* commits(bounds, rest)
  yield* checkpoints(bounds, rest)
})

/** The bounds of old data in a database that no other process uses. */
export const boundsNow = (keptRounds: number) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const [opening] = yield* storage.epochs.kept
    if (opening === undefined) return yield* Loading.noEpoch
    const last = yield* storage.commits.last
    const { leaderRound } = Option.getOrElse(last, () => opening.position)
    return boundsOf(leaderRound, opening.record.epoch, keptRounds)
  })

/** Deletes everything old from such a database, including histories; returns the numbers of rows. */
export const everything = (bounds: Bounds) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    yield* own(bounds)
    yield* closedStates(bounds.running, EventLoop.turn)
    const gone = yield* vertices(bounds, EventLoop.turn, () => {})
    const executed = yield* transactions(bounds, EventLoop.turn)
    yield* commits(bounds, EventLoop.turn)
    yield* checkpoints(bounds, EventLoop.turn)
    yield* storage.compact
    return { vertices: gone, transactions: executed }
  })

export const layer = Layer.scopedDiscard(
  Effect.gen(function* () {
    const context = yield* Effect.context<Engine | Storage | Configuration>()
    const pruning = Effect.forever(Effect.zipRight(Effect.sleep(EVERY), once))
    yield* (yield* Supervisor).restarted("pruning", Effect.provide(pruning, context))
  }),
)
