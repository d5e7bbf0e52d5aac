/** The node in figures, measured as they are asked for. */
import { Clock, Context, Effect, Layer } from "effect"
import { Network } from "../network/Network.js"
import type { Round } from "../protocol/Counter.js"
import type { Sats } from "../protocol/Sats.js"
import { Checkpoints } from "./Checkpoints.js"
import type { Counters } from "./Counters.js"
import { Dag } from "./Dag.js"
import { Engine } from "./Engine.js"
import { Mempool } from "./Mempool.js"
import { Staking } from "./Staking.js"
import { State } from "./State.js"

export interface Figures {
  readonly dagRound: Round
  readonly finalizedRound: Round
  readonly finalityLag: number
  readonly peers: number
  readonly mempoolSize: number
  readonly totalSupply: Sats
  readonly totalStaked: Sats
  readonly activeValidators: number
  readonly latestCheckpoint: Round
  readonly vertices: number
  readonly uptimeSeconds: number
}

export class Metrics extends Context.Tag("udg/Metrics")<
  Metrics,
  {
    readonly figures: Effect.Effect<Figures>
    /** The specified checkpoint and fast-sync figures. */
    readonly counters: Effect.Effect<Readonly<Counters>>
  }
>() {}

const make = Effect.gen(function* () {
  const [dag, state, mempool, staking] = yield* Effect.all([Dag, State, Mempool, Staking])
  const checkpoints = yield* Checkpoints
  const network = yield* Network
  const { counters } = yield* Engine
  const startedAt = yield* Clock.currentTimeMillis
  return Metrics.of({
    figures: Effect.gen(function* () {
      const { round, finalizedRound, vertices } = yield* dag.position
      const { totals } = yield* state.summary
      const { staked, activeValidators } = yield* staking.totals
      return {
        dagRound: round,
        finalizedRound,
        finalityLag: round - finalizedRound,
        peers: (yield* network.peers).length,
        mempoolSize: yield* mempool.size,
        totalSupply: totals.total,
        totalStaked: staked,
        activeValidators,
        latestCheckpoint: yield* checkpoints.latestRound,
        vertices,
        uptimeSeconds: Math.floor(((yield* Clock.currentTimeMillis) - startedAt) / 1_000),
      }
    }),
    counters: Effect.sync(() => ({ ...counters })),
  })
})

export const layer = Layer.effect(Metrics, make)
