import { HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import * as Group from "../../effect3/http/Group.js"
import * as Field from "./Field.js"

export const Metrics = Field.record(
  "Metrics",
  "key figures for monitoring",
  Schema.Struct({
    dag_round: Field.round("highest round seen"),
    finalized_round: Field.round("last finalized round"),
    finality_lag: Field.count("their difference; 2 or 3 is healthy, above 10 critical"),
    peer_count: Field.count("connected nodes; 3 or more is healthy, below 2 critical"),
    mempool_size: Field.count("pending transactions; below 5,000 is healthy, above 8,000 critical"),
    total_supply: Field.sats("everything that exists"),
    total_staked: Field.sats("own stakes and delegations together"),
    active_validators: Field.count("validators with an active stake among the 100 largest"),
    checkpoint_latest: Field.round("round of the latest quorum checkpoint"),
    uptime_seconds: Field.count("since the node started"),
  }),
  {
    dag_round: 1205,
    finalized_round: 1203,
    finality_lag: 2,
    peer_count: 4,
    mempool_size: 3,
    total_supply: 1_500_120_300_000_000,
    total_staked: 10_400_000_000_000,
    active_validators: 2,
    checkpoint_latest: 1200,
    uptime_seconds: 600,
  },
)

/** Prometheus' text format. */
export const Exposition = HttpApiSchema.Text({ contentType: "text/plain; version=0.0.4; charset=utf-8" }).annotations({
  description: "HELP, TYPE and value lines",
  examples: ["# HELP udg_dag_round Highest round seen\n# TYPE udg_dag_round gauge\nudg_dag_round 1205\n"],
})

export const group = Group.of("monitoring", "Monitoring", "Figures for monitoring systems.", [
  Group.get("metrics", "/metrics", "Metrics for Prometheus").addSuccess(Exposition),
  Group.get("metricsJson", "/metrics/json", "The most important metrics as JSON").addSuccess(Metrics),
])
