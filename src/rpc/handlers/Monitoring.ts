import { Effect } from "effect"
import * as Log from "../../node/log/Log.js"
import { type Figures, Metrics } from "../../node/reads/Metrics.js"
import { State } from "../../node/reads/State.js"
import type * as Api from "../api/Monitoring.js"
import { Prometheus } from "../metrics/Prometheus.js"
import * as Answer from "../server/Answer.js"
import type * as Handlers from "../server/Handlers.js"

const log = Log.for("metrics")

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
  const { revision } = yield* State
  const metrics = yield* Metrics
  const { expose } = yield* Prometheus
  // The seconds go on where nothing else does.
  const version = () => `${revision()} ${metrics.uptimeSeconds()}`
  return {
    metrics: () => Effect.tap(expose, (text) => log.debug("exposed", { characters: text.length })),
    metricsJson: () => Answer.current(version, () => metricsOf(metrics.figures())),
  } satisfies Handlers.Of<"monitoring">
})
