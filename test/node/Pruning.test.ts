import { Effect, Layer, Option } from "effect"
import { describe, expect } from "vitest"
import * as Engine from "../../src/node/engine/Engine.js"
import * as Pruning from "../../src/node/offline/Pruning.js"
import { Mempool } from "../../src/node/reads/Mempool.js"
import { Configuration, type Settings } from "../../src/node/start/Configuration.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Keys from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { Storage } from "../../src/storage/Storage.js"
import { sqlite } from "../storage/world.js"
import * as Rest from "../support/Rest.js"
import { withDirectory, withPlatform } from "./withDirectory.js"
import * as world from "./world.js"

const EPOCH_ROUNDS = 40
const protocol = { epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 20, roundIntervalMs: 1 }

/** Runs a network of short epochs until its fourth, prunes, and returns what is left. */
const pruned = (directory: string, rounds: number, archive: boolean) =>
  Effect.gen(function* () {
    yield* world.found(directory, protocol, { checkpointIntervalRounds: 10 })
    return yield* Effect.gen(function* () {
      yield* world.untilRound(3 * EPOCH_ROUNDS + 10)
      const engine = yield* Engine.Engine
      const storage = yield* Storage
      // The node continues meanwhile, so both ends of it are checked.
      const running = Effect.sync(() => engine.view.core.epoch.opening.record.epoch)
      const epoch = yield* running
      const { round } = engine.pulse()
      // With rounds this short, the files may lag memory by a few.
      const written = Effect.map(storage.commits.last, Option.getOrThrow)
      while ((yield* written).epoch < epoch) yield* Effect.sleep("5 millis")
      yield* Pruning.once
      const oldest = Option.getOrThrow(yield* storage.vertices.oldestRound)
      return { epoch, round, oldest, epochAfter: yield* running, roundAfter: engine.pulse().round }
    }).pipe(
      Effect.provide(
        Layer.merge(
          world.node(directory, { archive, roundMs: Option.none() }, undefined, world.ahead(rounds)),
          Layer.succeed(Configuration, world.settings({ archive })),
        ),
      ),
    )
  })

const epochs = (directory: string, table: string) =>
  Effect.map(sqlite(`${directory}/udg.db`, `select distinct epoch from ${table} order by epoch`), (rows) =>
    rows.map(([epoch]) => Number(epoch)),
  )

describe("pruning", () => {
  withDirectory("leaves the running epoch and the previous one whole, however old they are", function* (directory) {
    const { epoch, epochAfter } = yield* pruned(directory, 1_000_000, false)
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
    const [oldest = 0, ...newer] = yield* epochs(directory, "vertices")
    expect(oldest).toBeGreaterThanOrEqual(epoch - 1)
    expect(oldest).toBeLessThanOrEqual(epochAfter - 1)
    expect([oldest, ...newer]).toEqual(range(oldest, newer.at(-1) ?? oldest))
    // Closing checkpoints stay, and the ledger's states at the last two closes.
    const closings = yield* sqlite(
      `${directory}/udg.db`,
      "select epoch from checkpoints where is_closing = 1 order by 1",
    )
    expect(closings.flat()).toEqual(range(1, closings.length))
    expect(closings.length).toBeGreaterThanOrEqual(epoch - 1)
    // Checkpoints between the ends of epochs go as vertices do.
    const [[oldestBetween = 0] = []] = yield* sqlite(
      `${directory}/udg.db`,
      "select min(epoch) from checkpoints where is_closing = 0",
    )
    expect(oldestBetween).toBeGreaterThanOrEqual(epoch - 1)
    expect(oldestBetween).toBeLessThanOrEqual(epochAfter)
    const [oldestClose = 0] = yield* epochs(directory, "records_before")
    expect(oldestClose).toBeGreaterThanOrEqual(epoch - 2)
    // The ledger may have closed one that the core has not.
    expect(oldestClose).toBeLessThanOrEqual(epochAfter - 1)
    const lost = yield* sqlite(
      `${directory}/udg.db`,
      "select count(*) from vertex_bytes where vertex_id not in (select id from vertices)",
    )
    expect(lost).toEqual([[0]])
    // Nobody paid anybody, so no old commit is needed except the genesis.
    const [oldestCommit = 0, ...newerCommits] = (yield* epochs(directory, "commits")).slice(1)
    expect(oldestCommit).toBe(oldest)
    expect(newerCommits.length).toBeGreaterThanOrEqual(1)
  })

  withDirectory("removes only data older than ten thousand rounds", function* (directory) {
    const { round, roundAfter, oldest } = yield* pruned(directory, 9_900, false)
    expect(oldest).toBeGreaterThanOrEqual(round - Pruning.KEPT_ROUNDS)
    expect(oldest).toBeLessThanOrEqual(roundAfter - Pruning.KEPT_ROUNDS)
    const [[rounds, newest] = []] = yield* sqlite(
      `${directory}/udg.db`,
      "select count(distinct round), max(round) from vertices",
    )
    expect(rounds).toBe(Number(newest) - oldest + 1)
    const [[oldestBetween] = []] = yield* sqlite(
      `${directory}/udg.db`,
      "select min(round) from checkpoints where is_closing = 0",
    )
    // There is one every ten rounds, and those that close an epoch do not count here.
    expect(oldestBetween).toBeGreaterThanOrEqual(round - Pruning.KEPT_ROUNDS)
    expect(oldestBetween).toBeLessThanOrEqual(roundAfter - Pruning.KEPT_ROUNDS + 20)
  })

  // Memory is ahead while the disk or an archive's database is slow. A restart needs what is written and not ordered.
  withDirectory("leaves what the files still need while memory is epochs ahead of them", function* (directory) {
    yield* world.found(directory, protocol, { checkpointIntervalRounds: 10 })
    const written = yield* Effect.gen(function* () {
      yield* world.untilRound(2 * EPOCH_ROUNDS + 10)
      const engine = yield* Engine.Engine
      const { epoch } = Option.getOrThrow(yield* (yield* Storage).commits.last)
      const later = Natural.epoch(epoch + 5)
      const view = Object.create(null, {
        core: { value: { epoch: { opening: { record: { epoch: later } } } } },
        read: { value: { epoch: { epoch: later } } },
      })
      yield* Effect.provideService(Pruning.once, Engine.Engine, { ...engine, view })
      return epoch
    }).pipe(
      Effect.provide(
        Layer.merge(
          world.node(directory, { roundMs: Option.none() }, undefined, world.ahead(1_000_000)),
          Layer.succeed(Configuration, world.settings()),
        ),
      ),
    )
    expect((yield* epochs(directory, "vertices"))[0]).toBe(written - 1)
    expect((yield* epochs(directory, "records_before"))[0]).toBeLessThanOrEqual(written)
  })

  const paid = (to: Address.Address) =>
    Effect.gen(function* () {
      const payment = yield* world.payment(to, 1_000)
      yield* (yield* Mempool).submit(payment)
      yield* world.finalized(payment.id)
      return payment.id
    })

  /**
   * A payment in the first epoch and one in the third: which are still known, and which are in the recipient's history.
   */
  const historyAfter = (directory: string, changes: Partial<Settings>) =>
    Effect.gen(function* () {
      yield* world.found(directory, protocol, { checkpointIntervalRounds: 10 })
      return yield* Effect.gen(function* () {
        const to = Address.fromPublicKey(Keys.SecretKey.generate().publicKey)
        const early = yield* paid(to)
        yield* world.untilRound(2 * EPOCH_ROUNDS + 10)
        const late = yield* paid(to)
        yield* Pruning.once
        const storage = yield* Storage
        const known = yield* Effect.forEach([early, late], (id) =>
          Effect.map(storage.transactions.byId(id), Option.isSome),
        )
        const history = yield* storage.transactions.history({ address: to, before: null, limit: 9 })
        const newest = Option.getOrThrow(yield* storage.transactions.byId(late))
        const [vertex] = yield* storage.vertices.ofCommit(newest.commitIndex)
        return { known, history: history.length, isVertexWhole: vertex !== undefined }
      }).pipe(
        Effect.provide(
          Layer.merge(
            world.node(directory, { roundMs: Option.none(), ...changes }),
            Layer.succeed(Configuration, world.settings(changes)),
          ),
        ),
      )
    })

  withPlatform(
    Rest.of("one more life", "removes transactions and histories too on a node that keeps none"),
    function* () {
      const left = yield* historyAfter(yield* world.temporaryDirectory, { history: Option.some(0) })
      expect(left).toEqual({ known: [false, true], history: 1, isVertexWhole: true })
    },
  )

  withPlatform(
    Rest.of("two more lives", "leaves them where they are not older than the node keeps, or where it keeps all"),
    function* () {
      for (const history of [Option.some(5_000), Option.none()]) {
        const left = yield* historyAfter(yield* world.temporaryDirectory, { history })
        expect(left).toEqual({ known: [true, true], history: 2, isVertexWhole: true })
      }
    },
  )

  withDirectory(Rest.of("one more life", "removes no vertex and no checkpoint of an archive"), function* (directory) {
    const { oldest } = yield* pruned(directory, 1_000_000, true)
    expect(oldest).toBe(1)
    const [[between] = []] = yield* sqlite(
      `${directory}/udg.db`,
      `select count(*) from checkpoints where is_closing = 0 and round < ${EPOCH_ROUNDS}`,
    )
    expect(between).toBeGreaterThan(0)
  })
})
