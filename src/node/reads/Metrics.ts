/** The node's figures, measured on request. */
import { Context, Effect, Layer } from "effect"
import { Network, type Figures as NetworkFigures } from "../../network/Network.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import { Engine } from "../engine/Engine.js"
import { Checkpoints } from "./Checkpoints.js"

export type { NetworkFigures }

const make = Effect.gen(function* () {
  const { view, pulse, counters, watch } = yield* Engine
  const checkpoints = yield* Checkpoints
  const { figures: network } = yield* Network
  const clock = yield* Effect.clock
  const startedAt = SteadyClock.unsafeCurrent(clock)
  const uptimeSeconds = () => Math.floor((SteadyClock.unsafeCurrent(clock) - startedAt) / 1_000)
  return {
    /** Plain functions, since every monitor and wallet asks for these all the time. */
    figures: () => {
      const { read, pool } = view
      const { round } = pulse()
      const { staked, delegated, total } = read.totals
      return {
        dagRound: round,
        finalizedRound: read.head.leaderRound,
        finalityLag: round - read.head.leaderRound,
        peers: counters.counts.peers,
        mempoolSize: pool.size,
        totalSupply: total,
        totalStaked: Sats.addBounded(staked, delegated),
        activeValidators: read.activeValidatorCount,
        latestCheckpoint: checkpoints.latestRound(),
        vertices: counters.counts.vertices,
        uptimeSeconds: uptimeSeconds(),
      }
    },
    uptimeSeconds,
    /** The checkpoint and fast-sync figures that have no prefix in /metrics. */
    counters: () => ({ ...counters.counts }),
    network,
    /** How far this node's wall clock is ahead of the committee's; null before a quorum was heard. */
    clockAheadMs: () => watch.clockAheadMs,
  }
})

export type Figures = ReturnType<(typeof Metrics.Service)["figures"]>

export class Metrics extends Context.Tag("udg/Metrics")<Metrics, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Metrics, make)
