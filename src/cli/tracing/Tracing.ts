/**
 * Traces for an OpenTelemetry collector: commits and joins, which are spans of the program, HTTP requests, and
 * transactions. Loaded only if a collector is configured.
 */
import { randomUUID } from "node:crypto"
import { type Context, Effect, Layer, Option, Runtime, Schedule, Stream } from "effect"
import type { Engine } from "../../node/engine/Engine.js"
import type { Supervisor } from "../../node/lifecycle/Supervisor.js"
import * as Log from "../../node/log/Log.js"
import type { Address } from "../../protocol/identity/Address.js"
import { RequestSpans } from "../../rpc/server/RequestSpans.js"
import { FollowedTransactions } from "./FollowedTransactions.js"
import { Otlp } from "./Otlp.js"
import * as Requests from "./Requests.js"
import * as Sampled from "./Sampled.js"
import type { TraceSettings } from "./TraceSettings.js"

const log = Log.for("node")

/** A running node, as traces show it. */
export interface Traced extends Pick<Context.Tag.Service<typeof Engine>, "events"> {
  readonly networkId: string
  /** Where other nodes reach it, with its key. */
  readonly listensAt: Option.Option<string>
  readonly accountOf: (key: Address) => Address
  readonly restarted: Context.Tag.Service<typeof Supervisor>["restarted"]
}

export interface Tracing {
  /** Sends what is left when its scope ends. */
  readonly layer: Layer.Layer<RequestSpans>
  /** Runs beside the node. */
  readonly follow: (node: Traced) => Effect.Effect<never>
}

const now = (): number => performance.timeOrigin + performance.now()

export const make = ({ endpoint, ratio, resource }: TraceSettings): Tracing => {
  const otlp = new Otlp(endpoint)
  const ended = otlp.add.bind(otlp)
  const transactions = new FollowedTransactions({ ratio, now, ended })
  const layer = Layer.mergeAll(
    Layer.scopedDiscard(Effect.addFinalizer(() => Effect.promise(() => otlp.stop()))),
    Layer.setTracer(Sampled.tracer(() => Math.random() < ratio, ended)),
    Layer.succeed(RequestSpans, Requests.taking({ ratio, now, ended, transactions })),
  )
  const follow = ({ networkId, listensAt, events, accountOf, restarted }: Traced) =>
    Effect.gen(function* () {
      const fork = Runtime.runFork(yield* Effect.runtime<never>())
      const own = { "service.instance.id": Option.getOrElse(listensAt, randomUUID), "udg.network": networkId }
      otlp.begin([...new Map([...Object.entries(own), ...resource])], (reason) =>
        fork(log.warn("traces were lost: the collector did not accept them", { endpoint, reason })),
      )
      const followed = Stream.runForEach(events, (event) => Effect.sync(() => transactions.published(event, accountOf)))
      const swept = Effect.repeat(
        Effect.sync(() => transactions.giveUpOld()),
        Schedule.spaced("10 seconds"),
      )
      // A bug in it must not end the node.
      yield* restarted("traces", Effect.zipRight(Effect.all([followed, swept], { concurrency: 2 }), Effect.never))
      return yield* Effect.never
    })
  return { layer, follow: (node) => Effect.scoped(follow(node)) }
}
