import { it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { describe, expect } from "vitest"
import { Supervisor } from "../../src/node/lifecycle/Supervisor.js"
import { Checkpoints } from "../../src/node/reads/Checkpoints.js"
import { Dag } from "../../src/node/reads/Dag.js"
import { Governance } from "../../src/node/reads/Governance.js"
import { Health } from "../../src/node/reads/Health.js"
import { Mempool } from "../../src/node/reads/Mempool.js"
import { Metrics } from "../../src/node/reads/Metrics.js"
import { Staking } from "../../src/node/reads/Staking.js"
import { State } from "../../src/node/reads/State.js"
import { Validator } from "../../src/node/reads/Validator.js"
import { Home } from "../../src/node/start/Home.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as StateProof from "../../src/protocol/state/StateProof.js"
import { Storage } from "../../src/storage/Storage.js"
import * as world from "./world.js"

const somebody = "00000000000000000000000000000000000000aa" as Address
const COINS = Sats.SATS_PER_COIN

const untilRound = (round: number) =>
  Effect.gen(function* () {
    const dag = yield* Dag
    while ((yield* dag.position).finalizedRound < round) yield* Effect.sleep("10 millis")
  })

describe("a solo node", () => {
  it.scopedLive("pays from its faucet, and every read agrees once the payment is finalized", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      yield* Effect.gen(function* () {
        const [state, mempool, dag] = yield* Effect.all([State, Mempool, Dag])
        const payment = yield* world.payment(somebody, 7 * COINS)
        const accepted = yield* mempool.submit(payment)
        expect(accepted).toEqual({ id: payment.id, nonce: 0 })
        expect(yield* mempool.submit(payment)).toEqual(accepted)
        expect((yield* mempool.top(100)).map(({ transaction }) => transaction.id)).toEqual([payment.id])
        expect(yield* mempool.nextNonce(payment.from)).toBe(1)
        expect((yield* state.transaction(payment.id))._tag).toBe("Pending")

        const { recorded, transaction } = yield* world.finalized(payment.id)
        expect(transaction).toEqual(payment)
        expect(recorded.outcome).toEqual({ failure: null, proposalId: null, charged: null })
        expect(yield* mempool.size).toBe(0)
        expect(yield* state.account(somebody)).toMatchObject({ balance: 7 * COINS, nonce: 0 })
        expect(yield* state.account(payment.from)).toMatchObject({
          balance: 5_000_000 * COINS - 7 * COINS - 1_000,
          nonce: 1,
        })
        const { vertex, outcomes } = yield* dag.vertex(recorded.vertex.hash)
        expect(outcomes).toEqual(["applied"])
        expect(vertex.body.transactions.map(({ id }) => id)).toEqual([payment.id])
        const round = yield* dag.round(recorded.vertex.round)
        expect(round.vertices.map((known) => known.header.hash)).toEqual([recorded.vertex.hash])
        expect(round.finalizedAt).toBe(recorded.commitTime)
        const history = yield* state.history(somebody, null, 10)
        expect(history.transactions.map((known) => known.transaction.id)).toEqual([payment.id])
        expect(history.next).toBeNull()
      }).pipe(Effect.provide(world.node(directory)))
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("refuses unsigned transactions on arrival, and reports unknown hashes", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      yield* Effect.gen(function* () {
        const [state, mempool, dag] = yield* Effect.all([State, Mempool, Dag])
        const payment = yield* world.payment(somebody, 1)
        const forged = { ...payment, authorization: { ...payment.authorization, signature: "00".repeat(64) } }
        expect((yield* Effect.flip(mempool.submit(forged as typeof payment)))._tag).toBe("InvalidSignature")
        expect((yield* Effect.flip(state.transaction(Hash.ZERO)))._tag).toBe("TransactionNotFound")
        expect((yield* Effect.flip(dag.vertex(Hash.ZERO)))._tag).toBe("VertexNotFound")
        expect(yield* Effect.flip(dag.round(Natural.round(1_000_000)))).toMatchObject({ because: "not reached" })
        expect(yield* dag.round(Natural.round(0))).toEqual({
          round: 0,
          isFinalized: true,
          finalizedAt: null,
          vertices: [],
        })
      }).pipe(Effect.provide(world.node(directory)))
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("builds checkpoints, proves accounts against them, and counts both", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      yield* world.found(directory, { epochRounds: 240 })
      yield* Effect.gen(function* () {
        yield* untilRound(245)
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
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("stakes, takes a seat and reports itself", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      yield* Effect.gen(function* () {
        yield* untilRound(10)
        const [validator, staking, governance] = yield* Effect.all([Validator, Staking, Governance])
        const [health, metrics, supervisor] = yield* Effect.all([Health, Metrics, Supervisor])
        const standing = Option.getOrThrow(yield* validator.standing)
        expect(standing).toMatchObject({ isInCommittee: true, hasForeignHeader: false })
        expect(staking.totals()).toEqual({ staked: 100_000 * COINS, activeValidators: 1 })
        const [only] = staking.validators(100)
        expect(only).toMatchObject({ address: standing.address, stakedAmount: 100_000 * COINS, isInCommittee: true })
        expect(staking.stake(somebody)).toMatchObject({ stakedAmount: 0, delegatorCount: 0 })
        expect(staking.delegation(somebody)).toBeUndefined()
        expect(yield* staking.delegators(standing.address, 500)).toEqual({ count: 0, total: 0, delegators: [] })
        expect(governance.proposals(200)).toEqual([])
        expect(governance.proposal(Natural.proposalId(1))).toBeUndefined()
        expect(governance.parameters().minFee).toBe(1_000)
        expect(governance.council()).toEqual([])

        // A busy machine may delay a round; a sound node is healthy again with the next.
        const report = yield* Effect.repeat(Effect.zipLeft(health.report, Effect.sleep("2 millis")), {
          until: ({ status }) => status === "healthy",
        })
        expect(report.finality.lag).toBeLessThanOrEqual(3)
        expect(report.mempool).toEqual({ status: "healthy", size: 0, capacity: 10_000 })
        expect(report.network).toEqual({ status: "healthy", peers: 0 })
        const figures = metrics.figures()
        expect(figures.vertices).toBeGreaterThanOrEqual(figures.finalizedRound)
        expect(figures.totalStaked).toBe(100_000 * COINS)
        const components = yield* supervisor.components
        expect(components.map(({ name }) => name)).toContain("consensus")
        expect(components.every(({ status }) => status === "running")).toBe(true)
      }).pipe(Effect.provide(world.node(directory)))
    }).pipe(Effect.provide(world.platform)),
  )

  it.scopedLive("keeps its pending transactions, keys, network and rounds over a restart", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const first = yield* Effect.gen(function* () {
        const { genesis, validatorKey, isFounded } = yield* Home
        expect(isFounded).toBe(true)
        const mempool = yield* Mempool
        yield* untilRound(20)
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
        yield* untilRound(first.finalizedRound + 20)
      }).pipe(Effect.provide(world.node(directory, { roundMs: Option.none() })))
    }).pipe(Effect.provide(world.platform)),
  )
})
