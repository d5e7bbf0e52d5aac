/** A gateway's own metrics: its answers, its archive and nodes, and the process. */
import { Context, Effect, Layer } from "effect"
import type { Answered } from "../edge/server/Responder.js"
import * as Catalogue from "../rpc/metrics/Catalogue.js"
import * as Family from "../rpc/metrics/Family.js"
import { Latencies } from "../rpc/metrics/Latencies.js"
import * as Prometheus from "../rpc/metrics/Prometheus.js"
import { Archive } from "./Archive.js"
import { Nodes } from "./Nodes.js"

export class Gauges extends Context.Tag("udg/gateway/Gauges")<
  Gauges,
  {
    readonly observe: (answered: Answered) => void
    readonly countDefect: (route: string) => void
    readonly expose: () => Effect.Effect<string>
  }
>() {}

const make = Effect.gen(function* () {
  const [archive, nodes] = yield* Effect.all([Archive, Nodes])
  const latencies = new Latencies()
  const defects = new Map<string, number>()
  return Gauges.of({
    observe: latencies.observe,
    countDefect: (route) => defects.set(route, (defects.get(route) ?? 0) + 1),
    expose: () =>
      Effect.map(Prometheus.process, (ofProcess) => {
        const { all, healthy } = nodes.count()
        const own = { latencies, defects, commit: archive.asOf(), nodes: all, healthy }
        return `${Family.expose(Catalogue.ofGateway, own)}\n${ofProcess}`
      }),
  })
})

export const layer = Layer.effect(Gauges, make)
