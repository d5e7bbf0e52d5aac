import { HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import * as Rules from "../../edge/definition/Rules.js"
import * as Group from "../../effect3/http/Group.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Failure from "./Failure.js"
import * as Field from "./Field.js"

const { example } = Field

export const Metrics = Field.record(
  "Metrics",
  "key figures for monitoring",
  Schema.Struct({
    dag_round: Field.round("highest round seen"),
    finalized_round: Field.round("last finalized round"),
    finality_lag: Field.count("their difference; 2 or 3 is healthy, above 10 critical"),
    peer_count: Field.count("connected nodes; 3 or more is healthy, below 2 critical"),
    mempool_size: Field.count("pending transactions; below 5,000 is healthy, above 8,000 critical"),
    total_supply: Field.sats("total supply"),
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

export const Exposition = HttpApiSchema.Text({ contentType: "text/plain; version=0.0.4; charset=utf-8" }).annotations({
  description: "HELP, TYPE and value lines",
  examples: ["# HELP udg_dag_round Highest round seen\n# TYPE udg_dag_round gauge\nudg_dag_round 1205\n"],
})

export const Range = Schema.Literal("hour", "day", "year").annotations({
  identifier: "Range",
  description: "how far back",
})

const range = Field.optional(Range, "how far back; defaults to hour")

const stepMs = Field.count("the length of one point, in milliseconds")
const Moment = Natural.time("when a point begins, milliseconds since 1970")
const Counted = Natural.count("how many in this point")

const column = <A, I>(schema: Schema.Schema<A, I>, about: string) =>
  Schema.Array(schema).annotations({ description: about })

export const History = Field.record(
  "MetricsHistory",
  "the network's figures over time; all lists have one entry for each point, oldest first",
  Schema.Struct({
    range: Field.of(Range, "how far back"),
    step_ms: stepMs,
    at: column(
      Moment,
      "when the point begins, milliseconds since 1970; there are no points for times when the node did not run",
    ),
    measured_ms: column(Counted, "how much of the point was measured: divide by it to get a rate"),
    transactions: column(Counted, "finalized, applied or failed"),
    rounds: column(Counted, "decided: leader committed or skipped"),
    fees: column(Sats.schema, "sats paid in fees"),
    finality_ms: column(
      Schema.NullOr(Counted),
      "average time from a vertex's arrival here until it was final; null if no vertex became final",
    ),
    total_supply: column(Sats.schema, "total supply at the end"),
    total_staked: column(Sats.schema, "own stakes and delegations together, at the end"),
    mempool_size: column(Counted, "pending transactions, at the end"),
  }),
  {
    range: "hour",
    step_ms: 1_000,
    at: [example.timestamp],
    measured_ms: [1_000],
    transactions: [12],
    rounds: [2],
    fees: [12_000],
    finality_ms: [1_480],
    total_supply: [1_500_120_300_000_000],
    total_staked: [10_400_000_000_000],
    mempool_size: [3],
  },
)

export const Attendance = Field.record(
  "Attendance",
  "for each committee member, the rounds with and without a final vertex, as far as this node counted",
  Schema.Struct({
    range: Field.of(Range, "how far back"),
    since: Field.of(
      Schema.NullOr(Moment),
      "when counting within the range began on this node, to the minute; null before the first count",
    ),
    validators: Schema.Array(
      Schema.Struct({
        address: Field.address("the validator"),
        made: Field.count("rounds with a final vertex"),
        missed: Field.count("rounds without one"),
      }),
    ),
  }),
  { range: "day", since: example.timestamp, validators: [{ address: example.address, made: 172_000, missed: 12 }] },
)

export const ValidatorRounds = Field.record(
  "ValidatorRounds",
  "one validator's rounds and delegations over time, while it had a seat; all lists have one entry for each point, oldest first",
  Schema.Struct({
    validator: Field.address("the validator"),
    range: Field.of(Range, "how far back"),
    step_ms: stepMs,
    at: column(Moment, "when the point begins, milliseconds since 1970"),
    made: column(Counted, "rounds with a final vertex"),
    missed: column(Counted, "rounds without one"),
    delegators: column(
      Schema.NullOr(Counted),
      "number of its delegators at the end; null if an earlier version of the node ran",
    ),
    delegated: column(Schema.NullOr(Sats.schema), "sats delegated to it at the end; null likewise"),
  }),
  {
    ...{ validator: example.address, range: "hour", step_ms: 60_000 },
    ...{ at: [example.timestamp], made: [119], missed: [1], delegators: [2], delegated: [100_250_000] },
  },
)

export const group = Group.of("monitoring", "Monitoring", "Figures for monitoring systems, and figures over time.", [
  Group.get("metrics", "/metrics", "Metrics for Prometheus").addSuccess(Exposition),
  Group.get("metricsJson", "/metrics/json", "The most important metrics as JSON")
    .annotate(Rules.Cached, { until: "figures" })
    .addSuccess(Metrics),
  Group.get("history", "/metrics/history", "The network's figures over time")
    .annotate(
      OpenApi.Description,
      "Measured by this node: an hour by second, a day by minute, a year by hour. They survive restarts. The last point is " +
        "still growing: to follow, pass its `at` as `since` and replace it. Counts as three requests.",
    )
    .annotate(Rules.Weight, 3)
    .setUrlParams(
      Schema.Struct({
        range,
        since: Field.optional(Field.TimestampInUrl, "only points that begin at or after this moment"),
      }),
    )
    .annotate(Rules.Cached, { until: "history" })
    .addSuccess(History)
    .addError(Failure.InvalidRequest),
  Group.get("attendance", "/metrics/validators", "Rounds made and missed by each validator")
    .setUrlParams(Schema.Struct({ range }))
    .annotate(Rules.Cached, { until: "history" })
    .addSuccess(Attendance)
    .addError(Failure.InvalidRequest),
  Group.get("validatorRounds", "/validator/:address/rounds", "Rounds and delegations of a validator over time")
    .annotate(
      OpenApi.Description,
      "An hour by minute, a day by half hour, a year by day. Empty for an account without a seat. A round counts once no later " +
        "commit can order one of its vertices.",
    )
    .setPath(Schema.Struct({ address: Field.AccountText }))
    .setUrlParams(Schema.Struct({ range }))
    .annotate(Rules.Cached, { until: "history" })
    .addSuccess(ValidatorRounds)
    .addError(Failure.OfAccount),
])
