/**
 * A listener for operators, apart from the HTTP interface: the node's metrics, and its log level, which can be changed
 * while it runs. It limits only connections and bodies, so it belongs on an address that no client reaches.
 */
import * as Http from "node:http"
import { Effect, Layer, Option, Runtime, type Scope } from "effect"
import * as PageGuard from "../../edge/admission/PageGuard.js"
import * as Server from "../../edge/server/Server.js"
import * as Log from "../../node/log/Log.js"
import * as LogFilter from "../../node/log/LogFilter.js"
import { Configuration, type Endpoint } from "../../node/start/Configuration.js"
import { Prometheus } from "./Prometheus.js"

const log = Log.for("metrics")

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
const TEXT_TYPE = "text/plain; charset=utf-8"
const MAX_BODY_BYTES = 1_024
const MAX_CONNECTIONS = 64
const PATIENCE_MS = 5_000
const LOOKED_EVERY_MS = 1_000
/** How long the rest of a body is read and dropped. */
const LINGER_MS = 250

interface Answer {
  readonly status: number
  readonly type?: string
  readonly text: string
}

const tooLong: Answer = { status: 413, text: `at most ${MAX_BODY_BYTES} characters\n` }

const bodyOf = (request: Http.IncomingMessage): Effect.Effect<string, Answer> =>
  Effect.async((resume) => {
    let text = ""
    const take = (piece: string): void => {
      text += piece
      if (text.length <= MAX_BODY_BYTES) return
      request.off("data", take)
      resume(Effect.fail(tooLong))
    }
    request.setEncoding("utf8").on("data", take)
    request.on("end", () => resume(Effect.succeed(text)))
    request.on("error", ({ message }) => resume(Effect.fail({ status: 400, text: `${message}\n` })))
  })

const setLevel = (filter: LogFilter.LogFilter, directives: string) =>
  Effect.gen(function* () {
    const { filter: wanted, unreadable } = LogFilter.parse(directives)
    if (directives.trim() === "" || unreadable.length > 0) {
      const expected = `a level (${LogFilter.levels.join(", ")}) or module=level, as in RUST_LOG`
      return { status: 400, text: `${JSON.stringify(directives)} is not understood; use ${expected}\n` }
    }
    LogFilter.change(filter, wanted)
    yield* log.warn("the log level was changed", { directives: LogFilter.describe(filter) })
    return { status: 200, text: `${LogFilter.describe(filter)}\n` }
  })

const WORDS: PageGuard.Words = { names: "listen on another address with --metrics-host", pages: "ask for metrics" }

const answerTo = (
  request: Http.IncomingMessage,
  guard: PageGuard.PageGuard,
  filter: LogFilter.LogFilter,
  metrics: Effect.Effect<string>,
): Effect.Effect<Answer, Answer> => {
  const foreign = guard.refusalOfHost(request)
  if (foreign !== undefined) return Effect.fail({ status: 403, text: `${foreign.message}\n` })
  // A web page in the browser of somebody who can reach this listener is not an operator.
  if (PageGuard.isOfPage(request)) return Effect.fail({ status: 403, text: "this is not for web pages\n" })
  const path = request.url?.split("?", 1)[0]
  const isRead = request.method === "GET" || request.method === "HEAD"
  if (path === "/metrics" && isRead) return Effect.map(metrics, (text) => ({ status: 200, type: METRICS_TYPE, text }))
  if (path === "/log" && isRead) return Effect.succeed({ status: 200, text: `${LogFilter.describe(filter)}\n` })
  if (path === "/log" && request.method === "PUT")
    return Effect.flatMap(bodyOf(request), (directives) => setLevel(filter, directives))
  return Effect.fail({ status: 404, text: "only GET /metrics, GET /log and PUT /log are served here\n" })
}

/** For the log and `udg doctor`. */
export const WARNING =
  "the operators' listener accepts connections from other machines, and anyone who reaches it can read the metrics and set the log " +
  "level; use --metrics-host 127.0.0.1, or let a firewall admit only Prometheus and operators"

const listen = ({ host, port }: Endpoint): Effect.Effect<string, Server.CannotListen, Prometheus | Scope.Scope> =>
  Effect.gen(function* () {
    const { expose } = yield* Prometheus
    const filter = yield* LogFilter.current.use(Effect.succeed)
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const guard = new PageGuard.PageGuard({ host, names: [], isProxied: () => false, words: WORDS })
    const limits = {
      headersTimeout: PATIENCE_MS,
      requestTimeout: PATIENCE_MS,
      connectionsCheckingInterval: LOOKED_EVERY_MS,
      maxHeaderSize: 8_192,
    }
    const server = Http.createServer(limits, (request, response) => {
      const write = ({ status, type = TEXT_TYPE, text }: Answer) => {
        response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(text)
        // Closing immediately would discard an answer that the client has not read.
        request.resume()
        setTimeout(() => request.complete || request.destroy(), LINGER_MS)
      }
      runFork(Effect.map(Effect.merge(answerTo(request, guard, filter, expose)), write))
    })
    server.maxConnections = MAX_CONNECTIONS
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      }),
    )
    const options = { host: "--metrics-host", port: "--metrics-port" }
    const address = yield* Server.listen(server, { host, port, what: "metrics", options })
    server.on("error", () => {})
    guard.boundTo(address.address)
    if (!PageGuard.isLocal(address.address)) yield* log.warn(WARNING, { address: address.address })
    return Server.urlOf({ host, port: address.port })
  })

export const layer = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { metrics } = yield* Configuration
    if (Option.isNone(metrics)) return
    const url = yield* listen(metrics.value)
    yield* log.info("metrics and the log level are served on a separate address", { url })
  }),
)
