/**
 * Traces for an OpenTelemetry collector: commits and joins, which are spans of the program, and HTTP requests. Loaded
 * only if a collector is configured.
 */
import { Context, Effect, Exit, Layer, Option, Runtime } from "effect"
import * as Log from "../../node/log/Log.js"
import { RequestSpans } from "../../rpc/server/RequestSpans.js"
import { Otlp } from "./Otlp.js"
import * as Sampled from "./Sampled.js"

const log = Log.for("node")

const NANOS_PER_MS = 1_000_000
const FIRST_FAILURE = 500

export interface Options {
  readonly endpoint: string
  /** The sampled share of traces, from 0 to 1. */
  readonly ratio: number
  readonly version: string
}

const exporter = ({ endpoint, version }: Options) =>
  Effect.acquireRelease(
    Effect.map(Effect.runtime<never>(), (runtime) => {
      const fork = Runtime.runFork(runtime)
      return new Otlp(endpoint, version, (reason) =>
        fork(log.warn("traces were lost: the collector did not accept them", { endpoint, reason })),
      )
    }),
    (otlp) => Effect.promise(() => otlp.stop()),
  )

/** A request's span is made after its response, so that responses never wait for tracing. */
const requests = (tracer: ReturnType<typeof Sampled.tracer>) =>
  RequestSpans.of(({ route, method, status, milliseconds }) => {
    const endNanos = BigInt(Date.now()) * BigInt(NANOS_PER_MS)
    const startNanos = endNanos - BigInt(Math.round(milliseconds * NANOS_PER_MS))
    const span = tracer.span(`${method} ${route}`, Option.none(), Context.empty(), [], startNanos, "server")
    span.attribute("http.request.method", method)
    span.attribute("http.route", route)
    span.attribute("http.response.status_code", status)
    span.end(endNanos, status < FIRST_FAILURE ? Exit.void : Exit.fail(status))
  })

export const layer = (options: Options): Layer.Layer<RequestSpans> =>
  Layer.unwrapScoped(
    Effect.map(exporter(options), (otlp) => {
      const tracer = Sampled.tracer(
        () => Math.random() < options.ratio,
        (ended) => otlp.add(ended),
      )
      return Layer.merge(Layer.setTracer(tracer), Layer.succeed(RequestSpans, requests(tracer)))
    }),
  )
