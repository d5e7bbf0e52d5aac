import { Effect, Option } from "effect"
import type { Attendance, Past } from "../../node/history/Attendance.js"
import type * as Figures from "../../node/history/Figures.js"
import * as Ranges from "../../node/history/Ranges.js"
import * as Log from "../../node/log/Log.js"
import { Metrics, type Figures as MetricsFigures } from "../../node/reads/Metrics.js"
import { MetricsHistory } from "../../node/reads/MetricsHistory.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import type * as Api from "../api/Monitoring.js"
import { Prometheus } from "../metrics/Prometheus.js"
import * as AccountReference from "./AccountReference.js"
import { group } from "./Group.js"

const log = Log.for("metrics")

const metricsOf = (figures: MetricsFigures): typeof Api.Metrics.Type => ({
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

const STANDARD_RANGE = "hour"

const finalityOf = ({ finalityMs, finalVertices }: Figures.Point): number | null =>
  finalVertices === 0 ? null : Math.round(finalityMs / finalVertices)

const historyOf = (range: Ranges.Name, points: ReadonlyArray<Figures.Point>): typeof Api.History.Type => ({
  range,
  step_ms: Ranges.figures[range].stepMs,
  at: points.map(({ at }) => Natural.timestamp(at)),
  measured_ms: points.map(({ ms }) => ms),
  transactions: points.map(({ transactions }) => transactions),
  rounds: points.map(({ rounds }) => rounds),
  fees: points.map(({ fees }) => Sats.make(Math.min(fees, Sats.MAX_SUPPLY))),
  finality_ms: points.map(finalityOf),
  total_supply: points.map(({ supply }) => Sats.make(supply)),
  total_staked: points.map(({ staked }) => Sats.make(staked)),
  mempool_size: points.map(({ mempool }) => mempool),
})

const attendanceOf = (
  range: Ranges.Name,
  attendance: Pick<Attendance, "totals" | "since">,
): typeof Api.Attendance.Type => ({
  range,
  since: Option.getOrNull(Option.map(Option.fromNullable(attendance.since(range)), Natural.timestamp)),
  validators: [...attendance.totals(range)].map(([address, { made, missed }]) => ({ address, made, missed })),
})

const roundsOf = (
  validator: Address,
  range: Ranges.Name,
  points: ReadonlyArray<Past>,
): typeof Api.ValidatorRounds.Type => ({
  validator,
  range,
  step_ms: Ranges.attendance[range].stepMs,
  at: points.map(({ at }) => Natural.timestamp(at)),
  made: points.map(({ made }) => made),
  missed: points.map(({ missed }) => missed),
  delegators: points.map(({ backing }) => backing?.delegators ?? null),
  delegated: points.map(({ backing }) => backing?.delegated ?? null),
})

export const layer = group("monitoring", (handlers) =>
  Effect.gen(function* () {
    const metrics = yield* Metrics
    const { figures, attendance } = yield* MetricsHistory
    const account = yield* AccountReference.resolver
    const { expose } = yield* Prometheus
    return handlers
      .handle("metrics", () => Effect.tap(expose, (text) => log.debug("exposed", { characters: text.length })))
      .handle("metricsJson", () => Effect.map(metrics.current, metricsOf))
      .handle("history", ({ urlParams: { range = STANDARD_RANGE, since = 0 } }) =>
        Effect.sync(() =>
          historyOf(
            range,
            figures()[range].filter(({ at }) => at >= since),
          ),
        ),
      )
      .handle("attendance", ({ urlParams: { range = STANDARD_RANGE } }) =>
        Effect.sync(() => attendanceOf(range, attendance)),
      )
      .handle("validatorRounds", ({ path, urlParams: { range = STANDARD_RANGE } }) =>
        Effect.map(account("address", path.address), (address) =>
          roundsOf(address, range, attendance.of(address, range)),
        ),
      )
  }),
)
