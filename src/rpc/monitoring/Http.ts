import { Effect } from "effect"
import { Engine } from "../../node/Engine.js"
import { type Figures, Metrics } from "../../node/Metrics.js"
import * as Answer from "../Answer.js"
import type * as Handlers from "../Handlers.js"
import type * as Api from "./Api.js"
import { Prometheus } from "./Prometheus.js"

const metricsOf = (figures: Figures): typeof Api.Metrics.Type => ({
  dag_round: figures.dagRound,
  finalized_round: figures.finalizedRound,
  finality_lag: figures.finalityLag,
  peer_count: figures.peers,
  mempool_size: figures.mempoolSize,
  total_supply: figures.totalSupply,
  total_staked: figures.totalStaked,
  active_validators: figures.activeValidators,
  checkpoint_latest: figures.latestCheckpoint,
  uptime_seconds: figures.uptimeSeconds,
})

export const handlers = Effect.gen(function* () {
  const { revision } = yield* Engine
  const metrics = yield* Metrics
  const { expose } = yield* Prometheus
  // The seconds go on where nothing else does.
  const version = () => `${revision()} ${metrics.uptimeSeconds()}`
  const handlers: Handlers.Of<"monitoring"> = {
    metrics: () => expose,
    metricsJson: () => Effect.succeed(Answer.atVersion(version, () => metricsOf(metrics.figures()))),
  }
  return handlers
})
