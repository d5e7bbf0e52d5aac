/**
 * `udg exporter`: another node's metrics in Prometheus' format, for a node that cannot be scraped because a proxy hides
 * /metrics or it is another implementation. It reads only /status and /metrics/json. Its gauges have the names that a
 * node uses, and a scrape fails if the node does not answer, so the same rules and dashboards apply and `up` is 0 for a
 * node that is down.
 */
import * as Http from "node:http"
import { Console, Data, Effect, Runtime } from "effect"
import * as Client from "../client/Effects.js"
import * as Server from "../edge/server/Server.js"
import type { Figures } from "../node/reads/Metrics.js"
import * as Catalogue from "../rpc/metrics/Catalogue.js"
import * as Family from "../rpc/metrics/Family.js"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"
import * as Sheet from "./terminal/Sheet.js"

/** Below Prometheus' default timeout of ten seconds. */
const PATIENCE_MS = 4_000
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const options = Setting.group("Options")

const settings = {
  target: options.withDefault(
    "--target URL",
    "the HTTP interface of the node to read",
    Reader.url,
    "http://127.0.0.1:10333",
  ),
  metricsPort: options.withDefault(
    "--metrics-port PORT",
    "port that serves /metrics; 0 takes any free port",
    Reader.port,
    11_333,
  ),
  metricsHost: options.withDefault(
    "--metrics-host HOST",
    "address of the interface that serves it; 0.0.0.0 opens it to other machines",
    Reader.host,
    "127.0.0.1",
  ),
}

class TargetSilent extends Data.TaggedError("TargetSilent")<{ readonly target: string; readonly reason: string }> {
  override get message(): string {
    return `no metrics from ${this.target}: ${this.reason}`
  }
}

/** The innermost cause, because the message of fetch only says that it failed. */
const reasonOf = (error: { readonly message: string; readonly cause?: unknown }): string => {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause
  return inner instanceof Error ? reasonOf(inner) : error.message.replaceAll(/\s+/g, " ")
}

/** The node's current figures under the names of its own metrics. */
const read = (target: string): Effect.Effect<Figures, TargetSilent> =>
  Effect.gen(function* () {
    // Prometheus retries by scraping again.
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
    Effect.map((figures) => Family.expose(Catalogue.ofElsewhere, { figures })),
    Effect.match({
      onSuccess: (text) => ({ status: 200, text }),
      onFailure: ({ message }) => ({ status: 502, text: `${message}\n` }),
    }),
  )

const answerTo = (request: Http.IncomingMessage, target: string): Effect.Effect<Answer> => {
  if (request.url?.split("?", 1)[0] !== "/metrics") {
    return Effect.succeed({ status: 404, text: "not found; only /metrics is served here\n" })
  }
  return request.method === "GET" || request.method === "HEAD"
    ? scraped(target)
    : Effect.succeed({ status: 405, text: "metrics can only be read, with GET\n" })
}

/** Serves until the scope ends. Returns the port. */
const serve = (target: string, host: string, port: number) =>
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
    const options = { host: "--metrics-host", port: "--metrics-port" }
    const address = yield* Server.listen(server, { host, port, what: "metrics", options })
    // A connection that cannot be accepted is left for Prometheus to reopen.
    server.on("error", () => {})
    return address.port
  })

export const command = Command.make({
  name: "exporter",
  about: "re-exports the metrics of another node for Prometheus",
  settings,
  examples: [
    [
      "http://127.0.0.1:11333/metrics with the gauges of a node behind a proxy",
      "udg exporter --target https://node.example",
    ],
    ["open to a Prometheus on another machine", "udg exporter --target http://10.0.0.5:10333 --metrics-host 0.0.0.0"],
  ],
  footer: [
    "A node that can be scraped needs no exporter: it serves the same gauges, and more, on its own /metrics. Each scrape " +
      "asks the node for /status and /metrics/json; if it does not answer, the scrape fails too (502), and up is 0.",
  ],
  runsUntilStopped: true,
  run: ({ target, metricsHost, metricsPort }, { version }) =>
    Effect.gen(function* () {
      const port = yield* serve(target, metricsHost, metricsPort)
      const lines = Sheet.indented([
        ["target", target],
        ["metrics", `${Server.urlOf({ host: metricsHost, port })}/metrics`],
      ])
      yield* Console.log(`udg exporter ${version}\n\n${lines}\n`)
      return yield* Effect.never
    }).pipe(Effect.scoped),
})
