/** What is measured, in Prometheus' format: read at a scrape, but times of answers are collected as they pass. */
import { Context, Effect, Layer } from "effect"
import * as Prom from "prom-client"
import type { Counts } from "../../node/engine/Counters.js"
import { Metrics, type NetworkFigures } from "../../node/reads/Metrics.js"
import { Configuration } from "../../node/start/Configuration.js"
import { Home } from "../../node/start/Home.js"
import type { Answered } from "../server/Responder.js"
import * as Gauges from "./Gauges.js"
import { Latencies } from "./Latencies.js"

export class Prometheus extends Context.Tag("udg/rpc/Prometheus")<
  Prometheus,
  {
    readonly observe: (answered: Answered) => void
    /** A request, by its route, that met a bug. */
    readonly countDefect: (route: string) => void
    readonly expose: Effect.Effect<string>
  }
>() {}

type Series = readonly [name: string, type: "counter" | "gauge", of: keyof Counted, help: string]

type Counted = Counts & NetworkFigures

/** The series without a prefix, under exactly the names that docs/operations/monitoring.md lists. */
const unprefixed: ReadonlyArray<Series> = [
  ["checkpoint_produced_total", "counter", "checkpointsProduced", "Checkpoints produced by this node"],
  [
    "checkpoint_production_duration_ms",
    "gauge",
    "checkpointProductionMs",
    "Duration of the last checkpoint production in milliseconds",
  ],
  ["checkpoint_size_bytes", "gauge", "checkpointBytes", "Size of the last checkpoint in bytes"],
  ["checkpoint_cosigned_total", "counter", "checkpointsCosigned", "Checkpoints co-signed by this node"],
  ["checkpoint_quorum_reached_total", "counter", "checkpointQuorums", "Checkpoints that reached a quorum"],
  [
    "checkpoint_validation_failures_total",
    "counter",
    "checkpointValidationFailures",
    "Checkpoints or signatures under them that did not hold",
  ],
  ["fast_sync_success_total", "counter", "fastSyncs", "Fast syncs that succeeded"],
  ["checkpoint_persist_success_total", "counter", "checkpointsPersisted", "Checkpoints written to the disk"],
]

/** Memory, processor time, garbage collection and the lag of the event loop belong to the process: one set for all nodes in it. */
const ofProcess = (() => {
  let registry: Prom.Registry | undefined
  return (): Prom.Registry => {
    if (registry === undefined) {
      registry = new Prom.Registry()
      Prom.collectDefaultMetrics({ register: registry })
    }
    return registry
  }
})()

/** The other counts of this node. */
const own: ReadonlyArray<Series> = [
  [
    "udg_transactions_final_total",
    "counter",
    "transactions",
    "Final transactions that were applied, or failed for a fee",
  ],
  [
    "udg_judging_failures_total",
    "counter",
    "judgingFailures",
    "Messages and questions of peers that a bug kept from being judged",
  ],
  [
    "udg_network_failures_total",
    "counter",
    "failures",
    "Times a bug ended something that the network layer did for a peer",
  ],
  ["udg_network_free_places", "gauge", "freePlaces", "Places for strangers that dial in"],
]

const registerCounts = (registry: Prom.Registry, counters: () => Counted): void => {
  for (const [name, type, key, help] of [...unprefixed, ...own]) {
    const options = { name, help, registers: [registry] }
    if (type === "gauge") {
      const gauge: Prom.Gauge = new Prom.Gauge({ ...options, collect: () => gauge.set(counters()[key]) })
      continue
    }
    const counter: Prom.Counter = new Prom.Counter({
      ...options,
      collect: () => {
        counter.reset()
        counter.inc(counters()[key])
      },
    })
  }
}

const make = Effect.gen(function* () {
  const { figures, counters, network, clockAheadMs } = yield* Metrics
  const { version } = yield* Configuration
  const { genesis } = yield* Home
  const registry = new Prom.Registry()
  registerCounts(registry, () => ({ ...counters(), ...network() }))
  Gauges.register(registry, figures)
  const clock: Prom.Gauge = new Prom.Gauge({
    name: "udg_clock_ahead_ms",
    help: "How far the wall clock is ahead of the committee's median; 0 before a quorum was heard",
    registers: [registry],
    collect: () => clock.set(clockAheadMs() ?? 0),
  })
  new Prom.Gauge({
    name: "udg_info",
    help: "Always 1; its labels say which program on which network this is",
    labelNames: ["version", "network_id", "mode"],
    registers: [registry],
  }).set({ version, network_id: genesis.networkId, mode: genesis.mode }, 1)
  const latencies = new Latencies()
  const defects = new Prom.Counter({
    name: "udg_http_defects_total",
    help: "Requests that met a bug of the node, by route; the log has the cause of each bug once",
    labelNames: ["route"],
    registers: [registry],
  })
  return Prometheus.of({
    observe: latencies.observe,
    countDefect: (route) => defects.inc({ route }),
    expose: Effect.promise(
      async () => `${await registry.metrics()}\n${latencies.expose()}\n${await ofProcess().metrics()}`,
    ),
  })
})

export const layer = Layer.effect(Prometheus, make)
