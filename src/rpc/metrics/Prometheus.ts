/** Measurements in Prometheus' format: read at a scrape, except answer times, which are collected continuously. */
import { Context, Effect, Layer } from "effect"
import * as Prom from "prom-client"
import type { Answered } from "../../edge/server/Responder.js"
import { Metrics } from "../../node/reads/Metrics.js"
import * as Catalogue from "./Catalogue.js"
import * as Family from "./Family.js"
import { Latencies } from "./Latencies.js"

export class Prometheus extends Context.Tag("udg/rpc/Prometheus")<
  Prometheus,
  {
    readonly observe: (answered: Answered) => void
    readonly countDefect: (route: string) => void
    readonly expose: Effect.Effect<string>
  }
>() {}

/** Memory, processor time, garbage collection and event loop lag belong to the process: one set for all nodes in it. */
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

export const process = Effect.promise(() => ofProcess().metrics())

const make = Effect.gen(function* () {
  const { measured } = yield* Metrics
  const latencies = new Latencies()
  const defects = new Map<string, number>()
  return Prometheus.of({
    observe: latencies.observe,
    countDefect: (route) => defects.set(route, (defects.get(route) ?? 0) + 1),
    expose: Effect.zipWith(
      Effect.map(measured, (node) => Family.expose(Catalogue.all, { ...node, latencies, defects })),
      process,
      (own, ofThisProcess) => `${own}\n${ofThisProcess}`,
    ),
  })
})

export const layer = Layer.effect(Prometheus, make)
