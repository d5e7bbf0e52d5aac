/**
 * `udg exporter`: the figures of a node elsewhere, in Prometheus' format. It stands in for a node that one cannot scrape
 * (behind a proxy that hides /metrics, or of another make): it asks for nothing but /status and
 * /metrics/json, names its gauges as a node does, and refuses a scrape when the node does not answer, so that the same
 * rules and dashboards hold for it, and `up` is 0 when the node is down.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Console, Data, Effect, Option, Runtime, type Scope } from "effect"
import * as Client from "../client/Client.js"
import type { Figures } from "../node/reads/Metrics.js"
import * as Gauges from "../rpc/metrics/Gauges.js"
import * as Server from "../rpc/server/Server.js"
import * as Command from "./settings/Command.js"
import type * as Help from "./settings/Help.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"

const group = "Options"
const DEFAULT_TARGET = "http://127.0.0.1:10333"
const DEFAULT_HOST = "127.0.0.1"
const DEFAULT_PORT = 11_333
/** Prometheus waits ten seconds, or what its configuration says, and it must be told before it stops waiting. */
const PATIENCE_MS = 4_000
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const settings = {
  target: Setting.value(
    "target",
    { group, placeholder: "URL", about: "the node to read, where it serves HTTP", otherwise: DEFAULT_TARGET },
    Reader.url,
  ),
  metricsPort: Setting.value(
    "metrics-port",
    {
      group,
      placeholder: "PORT",
      about: "port that serves /metrics; 0 takes any free port",
      otherwise: String(DEFAULT_PORT),
    },
    Reader.port,
  ),
  metricsHost: Setting.value(
    "metrics-host",
    {
      group,
      placeholder: "HOST",
      about: "address of the interface that serves it; 0.0.0.0 opens it to other machines",
      otherwise: DEFAULT_HOST,
    },
    Reader.host,
  ),
}

export const about = "re-exports the metrics of a node elsewhere"
export const runsUntilStopped = true

export const page = (version: string): Help.Page => ({
  title: `udg ${version}: the metrics of a node elsewhere, for Prometheus`,
  usage: "udg exporter [options]",
  settings: Object.values(settings),
  examples: [
    [
      "http://127.0.0.1:11333/metrics with the gauges of a node behind a proxy",
      "udg exporter --target https://node.example",
    ],
    ["open to a Prometheus on another machine", "udg exporter --target http://10.0.0.5:10333 --metrics-host 0.0.0.0"],
  ],
  footer: [
    "A node that can be scraped needs none: it has the same gauges, and more, on its own /metrics. Each scrape asks the " +
      "node for /status and /metrics/json; when it does not answer, neither does the scrape (502), and up is 0.",
  ],
})

/** The node did not say what it was asked for. */
class TargetSilent extends Data.TaggedError("TargetSilent")<{ readonly target: string; readonly reason: string }> {
  override get message(): string {
    return `${this.target} does not say: ${this.reason}`
  }
}

class CannotListen extends Data.TaggedError("CannotListen")<{
  readonly host: string
  readonly port: number
  readonly reason: string
}> {
  override get message(): string {
    const { host, port, reason } = this
    return `cannot serve metrics on ${host}:${port}: ${reason}; stop what uses it, or choose another port with --metrics-port`
  }
}

/** The innermost reason: what fetch says of itself is only that it failed. */
const reasonOf = (error: { readonly message: string; readonly cause?: unknown }): string => {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause
  return inner instanceof Error ? reasonOf(inner) : error.message.replaceAll(/\s+/g, " ")
}

/** What the node says of itself now, in the words that it uses inside. */
const read = (target: string): Effect.Effect<Figures, TargetSilent> =>
  Effect.gen(function* () {
    // Prometheus asks again by itself.
    const client = yield* Client.make(target, { retries: 0 })
    const [status, metrics] = yield* Effect.all([client.core.status(), client.monitoring.metricsJson()], {
      concurrency: "unbounded",
    })
    return {
      dagRound: metrics.dag_round,
      finalizedRound: metrics.finalized_round,
      finalityLag: metrics.finality_lag,
      peers: metrics.peer_count,
      mempoolSize: metrics.mempool_size,
      totalSupply: metrics.total_supply,
      totalStaked: metrics.total_staked,
      activeValidators: metrics.active_validators,
      latestCheckpoint: metrics.checkpoint_latest,
      vertices: status.dag_vertices,
      uptimeSeconds: metrics.uptime_seconds,
    }
  }).pipe(
    Effect.provide(FetchHttpClient.layer),
    Effect.timeoutFail({
      duration: PATIENCE_MS,
      onTimeout: () => ({ message: `no answer within ${PATIENCE_MS / 1_000} seconds` }),
    }),
    Effect.mapError((error) => new TargetSilent({ target, reason: reasonOf(error) })),
  )

interface Answer {
  readonly status: number
  readonly text: string
}

const scraped = (target: string): Effect.Effect<Answer> =>
  read(target).pipe(
    Effect.flatMap((figures) => Effect.promise(() => Gauges.expose(figures))),
    Effect.match({
      onSuccess: (text) => ({ status: 200, text }),
      onFailure: ({ message }) => ({ status: 502, text: `${message}\n` }),
    }),
  )

const answerTo = (request: Http.IncomingMessage, target: string): Effect.Effect<Answer> => {
  if (request.url?.split("?", 1)[0] !== "/metrics") {
    return Effect.succeed({ status: 404, text: "there is nothing here but /metrics\n" })
  }
  return request.method === "GET" || request.method === "HEAD"
    ? scraped(target)
    : Effect.succeed({ status: 405, text: "metrics are to be read, by GET\n" })
}

/** Serves until the scope ends, and says where. */
const serve = (
  target: string,
  host: string,
  port: number,
): Effect.Effect<{ readonly host: string; readonly port: number }, CannotListen, Scope.Scope> =>
  Effect.gen(function* () {
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const server = Http.createServer((request, response) => {
      const answer = Effect.map(answerTo(request, target), ({ status, text }) =>
        response.writeHead(status, { "Content-Type": CONTENT_TYPE, "Cache-Control": "no-store" }).end(text),
      )
      runFork(answer)
    })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      }),
    )
    return yield* Effect.async<{ readonly host: string; readonly port: number }, CannotListen>((resume) => {
      server.on("error", ({ message: reason }) => resume(new CannotListen({ host, port, reason })))
      server.listen(port, host, () => resume(Effect.succeed({ host, port: (server.address() as AddressInfo).port })))
    })
  })

const line = (name: string, value: string): string => `  ${name.padEnd(10)}${value}`

export const run = (words: ReadonlyArray<string>, version: string) =>
  Effect.gen(function* () {
    const { values: given } = yield* Command.read(settings, words)
    const target = Option.getOrElse(given.target, () => DEFAULT_TARGET)
    const host = Option.getOrElse(given.metricsHost, () => DEFAULT_HOST)
    const listening = yield* serve(
      target,
      host,
      Option.getOrElse(given.metricsPort, () => DEFAULT_PORT),
    )
    yield* Console.log(
      [
        `udg exporter ${version}`,
        "",
        line("target", target),
        line("metrics", `${Server.urlOf(listening)}/metrics`),
        "",
      ].join("\n"),
    )
    return yield* Effect.never
  }).pipe(Effect.scoped)
