import { Effect, Either, Option } from "effect"
import { describe, expect } from "vitest"
import { Checkpoints } from "../../src/node/reads/Checkpoints.js"
import { Dag } from "../../src/node/reads/Dag.js"
import { Mempool } from "../../src/node/reads/Mempool.js"
import { Metrics } from "../../src/node/reads/Metrics.js"
import { State } from "../../src/node/reads/State.js"
import { Home } from "../../src/node/start/Home.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as StateProof from "../../src/protocol/state/StateProof.js"
import { Storage } from "../../src/storage/Storage.js"
import { withDirectory } from "./withDirectory.js"
import * as world from "./world.js"

const somebody = "00000000000000000000000000000000000000aa" as Address

describe("a solo node", () => {
  withDirectory("builds checkpoints, proves accounts against them, and counts both", function* (directory) {
    yield* world.found(directory, { epochRounds: 240 })
    yield* Effect.gen(function* () {
      yield* world.untilRound(245)
      const [checkpoints, metrics, state, dag] = yield* Effect.all([Checkpoints, Metrics, State, Dag])
      const latest = Option.getOrThrow(yield* checkpoints.latest)
      expect(latest.checkpoint.round).toBe(240)
      expect(latest.hasQuorum).toBe(true)
      expect(latest.signatures).toHaveLength(1)
      expect(checkpoints.latestRound()).toBe(240)
      expect(Option.getOrThrow(yield* checkpoints.at(Natural.round(101))).checkpoint.epoch).toBe(1)
      // A checkpoint without a quorum is on the disk as well, but is not public.
      const own = Checkpoint.make({ ...latest.checkpoint, round: Natural.round(150) })
      yield* (yield* Storage).checkpoints.put({ checkpoint: own, signatures: [], hasQuorum: false })
      expect(yield* checkpoints.at(own.round)).toEqual(Option.none())

      const { faucet } = state.genesis
      const proven = Option.getOrThrow(yield* checkpoints.prove(faucet?.address ?? somebody))
      expect(proven.signed.checkpoint.hash).toBe(latest.checkpoint.hash)
      const { stateRoot } = proven.signed.checkpoint
      expect(StateProof.verify(stateRoot, proven.key, proven.proof)).toEqual(Either.right(proven.record))
      expect(Option.isSome(proven.record)).toBe(true)

      const counters = metrics.counters()
      expect(counters).toMatchObject({
        checkpointsProduced: 3,
        checkpointsCosigned: 3,
        checkpointQuorums: 3,
        checkpointsPersisted: 3,
        checkpointValidationFailures: 0,
        fastSyncs: 0,
      })
      expect(counters.checkpointBytes).toBeGreaterThan(100)
      expect(counters.checkpointProductionMs).toBeGreaterThan(0)
      // Epoch 1 closed at 240, after it had made vertices of rounds that epoch 2 then made again.
      for (const round of [240, 241, 242].map(Natural.round)) {
        expect((yield* dag.round(round)).vertices.map(({ isFinalized }) => isFinalized)).toEqual([true])
      }
    }).pipe(Effect.provide(world.node(directory)))
  })

  withDirectory("keeps its pending transactions, keys, network and rounds over a restart", function* (directory) {
    const first = yield* Effect.gen(function* () {
      const { genesis, validatorKey, isFounded } = yield* Home
      expect(isFounded).toBe(true)
      const mempool = yield* Mempool
      yield* world.untilRound(20)
      const payment = yield* world.payment(somebody, 5)
      yield* mempool.submit(payment)
      const { finalizedRound } = yield* (yield* Dag).position
      return { genesis, key: Option.getOrThrow(validatorKey).publicKey, id: payment.id, finalizedRound }
    }).pipe(Effect.provide(world.node(directory)))
    yield* Effect.gen(function* () {
      const { genesis, validatorKey, isFounded } = yield* Home
      expect({ isFounded, genesis }).toEqual({ isFounded: false, genesis: first.genesis })
      expect(Option.getOrThrow(validatorKey).publicKey).toBe(first.key)
      expect((yield* (yield* Dag).position).finalizedRound).toBeGreaterThanOrEqual(first.finalizedRound)
      yield* world.finalized(first.id)
      yield* world.untilRound(first.finalizedRound + 20)
    }).pipe(Effect.provide(world.node(directory, { roundMs: Option.none() })))
  })
})
