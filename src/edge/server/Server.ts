/**
 * The HTTP server as a scoped layer: it listens while the scope lives and drains when it closes. Slow or silent clients
 * are disconnected by time limits, and many of them by number limits, without effect on other clients.
 */
import * as Http from "node:http"
import { type AddressInfo, Server as NetServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { HttpApi } from "@effect/platform"
import { Cause, Context, Data, Effect, Exit, Layer, Option } from "effect"
import * as Run from "../../effect3/fibers/Run.js"
import * as Definition from "../../effect3/http/Definition.js"
import * as Log from "../../node/log/Log.js"
import { Admission } from "../admission/Admission.js"
import { Budget } from "../admission/Budget.js"
import * as ClientAddress from "../admission/ClientAddress.js"
import { PageGuard, type Words } from "../admission/PageGuard.js"
import { TurnScheduler } from "../admission/TurnScheduler.js"
import { streamsOfOne } from "../definition/EventStream.js"
import * as Failure from "../definition/Failure.js"
import type * as Rules from "../definition/Rules.js"
import { Connections } from "./Connections.js"
import * as Defects from "./Defects.js"
import { Dispatcher } from "./Dispatcher.js"
import * as Endpoint from "./Endpoint.js"
import { EventStreams } from "./EventStreams.js"
import * as Freshness from "./Freshness.js"
import * as Group from "./Group.js"
import { Listener, MOST_HEADERS } from "./Listener.js"
import { type Options as ProbeOptions, Probes } from "./Probes.js"
import * as Reply from "./Reply.js"
import { bug, type OnAnswer, Responder } from "./Responder.js"

/** A server's limits, all in one place. Tests shorten the times. */
export interface Tolerance {
  /** From a request's first byte to the end of its headers. */
  readonly headersMs: number
  /** From a request's first byte to the end of its body. */
  readonly requestMs: number
  /** For a connection without a request, as announced in responses. */
  readonly keepAliveMs: number
  /** How much longer it actually stays open. */
  readonly graceMs: number
  /** For a response from memory whose content is not written yet. */
  readonly unwrittenMs: number
  /** For a response whose client reads nothing more. */
  readonly silenceMs: number
  /** For an event stream whose client reads nothing although more is waiting. */
  readonly unreadEventsMs: number
  readonly connections: number
  /** Bytes of all arriving bodies. */
  readonly bodyBytes: number
  /** Bytes of all unread responses. */
  readonly unreadBytes: number
  /** For responses that are still due when the server stops. */
  readonly drainMs: number
}

const standardTolerance: Tolerance = {
  headersMs: 10_000,
  requestMs: 20_000,
  keepAliveMs: 15_000,
  graceMs: 5_000,
  unwrittenMs: 5_000,
  silenceMs: 60_000,
  unreadEventsMs: 10_000,
  connections: 4_096,
  bodyBytes: 67_108_864,
  unreadBytes: 134_217_728,
  drainMs: 1_000,
}

/**
 * How long requests can use one turn of the event loop: those with bodies from reading to answering, others until their
 * handler waits.
 */
const TURN_MS = 8
/** While the node is late, they get one turn in this time: a sixth of the thread. */
const PRESSED_EVERY_MS = 50

const HEADER_BYTES = 16_384
const SWEEP_MS = 50

export interface Settings extends ClientAddress.Settings, Endpoint.Options {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Names of this machine besides its loopback ones, and of pages with the rights of its own. */
  readonly names?: ReadonlyArray<string>
  /** Error messages for refused pages. */
  readonly words: Words
  /** One client's requests to all endpoints together. */
  readonly limit: Rules.Limit
  /**
   * Where process managers check that the server lives. It does not count in the limit; it shares a second one with
   * preflights.
   */
  readonly livenessPath: string
  /** Translates service errors that handlers fail with. */
  readonly errors: Group.Errors
  readonly rateLimits: boolean
  readonly tolerance?: Partial<Tolerance>
  /** Pages besides the endpoints. */
  readonly pages?: (path: string, request: Http.IncomingMessage) => Reply.Reply | undefined
  /** Whether the node is late with its own work, so that bodies have to wait. */
  readonly isPressed?: () => boolean
  /** Set on servers that can be behind others. */
  readonly freshness?: Freshness.Freshness
  /** Called for every response, for metrics. */
  readonly onAnswer?: OnAnswer
  /** Called for every request that hits a bug, for metrics. */
  readonly onDefect?: (route: string) => void
}

/** Where to listen, for what, and the options that set it; the host has no option if it is fixed. */
interface Place {
  readonly host: string
  readonly port: number
  readonly what: string
  readonly options: { readonly host?: string; readonly port: string }
}

/** The address is taken or not allowed. */
export class CannotListen extends Data.TaggedError("CannotListen")<
  Place & { readonly reason: string; readonly isInUse: boolean }
> {
  override get message(): string {
    const { what, host, port, reason, isInUse, options } = this
    const either = options.host === undefined ? options.port : `${options.host} or ${options.port}`
    const advice = isInUse
      ? `the port is in use; stop what uses it, or choose another with ${options.port}`
      : `${reason}; choose another with ${either}`
    return `cannot serve ${what} on ${host}:${port}: ${advice}`
  }
}

/** A running server with its actual port. */
export class Server extends Context.Tag("udg/rpc/Server")<Server, { readonly host: string; readonly port: number }>() {}

/** The server's URL on this machine. The loopback address stands for a server that listens on all addresses. */
export const urlOf = ({ host, port }: { readonly host: string; readonly port: number }): string => {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`
}

const log = Log.for("rpc")

/** The response to a connection that sent no complete request. */
const failureOf = (code: string | undefined): Failure.Failure => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new Failure.HeadersTooLarge({ message: `request line and headers are larger than ${HEADER_BYTES} bytes` })
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Failure.RequestTimeout({ message: "the request did not arrive in time" })
    default:
      return new Failure.InvalidRequest({ message: "this is not an HTTP/1.1 request" })
  }
}

const last = (socket: Duplex, failure: Failure.Failure): void => {
  if (socket.writable && !socket.destroyed) socket.end(Reply.toBytes(Reply.ofFailure(failure)))
  // Anything that the client still sends is ignored.
  setTimeout(() => socket.destroy(), 1_000).unref()
}

const noPlace = new Failure.Overloaded({
  message: "the server has reached its limit of connections",
  retry_after_seconds: 10,
})

/**
 * Node.js closes an idle connection after the announced time, although the next request can be on its way or wait
 * behind a busy thread. So the connection stays open longer, and until everything that has arrived is read.
 */
const closeIdle = (socket: Socket, graceMs: number): void => {
  const { bytesRead } = socket
  const close = (): void => {
    if (socket.bytesRead === bytesRead) socket.destroy()
  }
  setTimeout(() => setImmediate(close), graceMs).unref()
}

interface Held {
  readonly streams: EventStreams
  readonly connections: Connections
  readonly probes: Probes
}

const make = (tolerance: Tolerance, listener: Listener, { streams, connections, probes }: Held): Http.Server => {
  const server = Http.createServer(
    {
      headersTimeout: tolerance.headersMs,
      requestTimeout: tolerance.requestMs,
      keepAliveTimeout: tolerance.keepAliveMs,
      connectionsCheckingInterval: Math.min(1_000, tolerance.headersMs),
      maxHeaderSize: HEADER_BYTES,
      noDelay: true,
      // Node.js' own response to a missing Host would not be JSON; `admission/PageGuard.ts` has ours.
      requireHostHeader: false,
    },
    listener.handle,
  )
  // One more than the listener admits. Node.js drops headers beyond it, such as the one that a proxy adds last.
  server.maxHeadersCount = MOST_HEADERS + 1
  // Doubled, for proxies and for connections that only get a refusal.
  server.maxConnections = 2 * tolerance.connections
  // Runs before the HTTP parser, which starts to read a connection at once.
  const parsing = server.listeners("connection")
  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    const entry = connections.enter(socket)
    if (entry === "kept out") return probes.take(ClientAddress.ofSocket(socket), socket)
    for (const parse of parsing) Reflect.apply(parse, server, [socket])
    if (entry !== "taken") last(socket, noPlace)
  })
  // Only the end of a response and an unread response set a timeout.
  server.on("timeout", (socket) => {
    if (socket.writableLength > 0) socket.destroy()
    else closeIdle(socket, tolerance.graceMs)
  })
  server.on("checkContinue", (request, response) => listener.handle(request, response, true))
  server.on("checkExpectation", (request, response) => listener.handle(request, response, true))
  server.on("connect", (_request, socket) =>
    last(
      socket,
      new Failure.MethodNotAllowed({
        message: "this server is not a proxy",
        allowed: ["GET", "HEAD", "POST", "OPTIONS"],
      }),
    ),
  )
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    // An error in the middle of a stream would be taken for a part of it.
    if (streams.isOn(socket)) socket.destroy()
    else last(socket, failureOf(error.code))
  })
  return server
}

/** Closes the connection of a client that does not read: after a while, or at once if too many bytes wait for it. */
const limitUnread = (response: Http.ServerResponse, client: string, unread: Budget, silenceMs: number): void => {
  const { socket } = response.req
  const bytes = response.writableLength
  if (!unread.take(client, bytes)) {
    socket.destroy()
    return
  }
  response.once("close", () => unread.give(client, bytes))
  socket.setTimeout(silenceMs)
}

export const listen = (server: Http.Server, place: Place): Effect.Effect<AddressInfo, CannotListen> =>
  Effect.async((resume) => {
    const { host, port } = place
    const onError = (error: NodeJS.ErrnoException): void =>
      resume(new CannotListen({ ...place, reason: error.message, isInUse: error.code === "EADDRINUSE" }))
    server.once("error", onError)
    server.listen({ host, port, backlog: 1_024 }, () => {
      server.off("error", onError)
      resume(Effect.succeed(server.address() as AddressInfo))
    })
  })

const placeOf = ({ host, port }: Pick<Settings, "host" | "port">): Place => ({
  host,
  port,
  what: "HTTP",
  options: { host: "--rpc-host", port: "--rpc-port" },
})

/** Fails if the interface cannot be served there now. */
export const probe = (settings: Pick<Settings, "host" | "port">): Effect.Effect<void, CannotListen> =>
  Effect.suspend(() => {
    const server = Http.createServer()
    return Effect.zipRight(
      listen(server, placeOf(settings)),
      Effect.async<void>((resume) => void server.close(() => resume(Effect.void))),
    )
  })

interface Draining {
  /** Refuses requests from now on and ends streams. */
  readonly stop: () => void
  /** Whether any response is still unread. */
  readonly isUnread: () => boolean
  readonly drainMs: number
}

/**
 * Accepts no new connections, closes idle ones once what has arrived is read, waits for due responses within the time
 * limit, then closes all.
 */
const drain = (server: Http.Server, { stop, isUnread, drainMs }: Draining): Effect.Effect<void> =>
  Effect.async((resume) => {
    // A timer of its own: finalizers cannot be interrupted, so Effect's timeout would wait forever.
    const finish = (): void => {
      clearTimeout(timer)
      clearInterval(sweep)
      server.close()
      server.closeAllConnections()
      resume(Effect.void)
    }
    const timer = setTimeout(finish, drainMs)
    // The HTTP server's close would also close connections whose next request has arrived unread.
    NetServer.prototype.close.call(server, finish)
    stop()
    // Node.js considers a connection idle once its response is written, even if it is not read.
    const close = (): void => {
      if (!isUnread()) server.closeIdleConnections()
    }
    // A connection becomes idle after a response that was due at the stop.
    const sweep = setInterval(() => setImmediate(close), SWEEP_MS)
    // The second of two immediates runs after one full poll of all sockets.
    setImmediate(() => setImmediate(close))
  })

/** Called outside of any request, where no response could report a bug. */
const orFalse =
  (isPressed: () => boolean, report: Defects.Report): (() => boolean) =>
  () => {
    try {
      return isPressed()
    } catch (defect) {
      report("none", Cause.die(defect))
      return false
    }
  }

/** The liveness endpoint's answer, for clients without an HTTP request. */
const liveness =
  (
    endpoints: ReadonlyArray<Endpoint.Endpoint>,
    { livenessPath, errors }: Settings,
    run: Run.Run,
    report: Defects.Report,
  ): ProbeOptions["answer"] =>
  (write) => {
    const endpoint = endpoints.find(({ path }) => path === livenessPath)
    if (endpoint?._tag !== "Read") return
    run(endpoint.handle({}), (exit) => {
      if (Exit.isSuccess(exit)) {
        write({ status: endpoint.status, headers: [], content: endpoint.encode(exit.value) })
        return
      }
      const failure = Option.flatMap(Cause.failureOption(exit.cause), (error) => Reply.failureOf(error, errors))
      if (Option.isNone(failure)) report(endpoint.path, exit.cause)
      write(Reply.ofFailure(Option.getOrElse(failure, () => bug)))
    })
  }

const start = <Id extends string, Groups extends Definition.AnyGroup, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  settings: Settings,
) =>
  Effect.gen(function* () {
    const tolerance = { ...standardTolerance, ...settings.tolerance }
    const { freshness } = settings
    const endpoints = Endpoint.all(Definition.all(api), yield* Group.all(api), settings)
    // Handlers outlive their client: a transaction is accepted or not, even if nobody waits for the response.
    const fork = yield* Run.scopedFork
    const report = Defects.reporter({
      onDefect: settings.onDefect ?? (() => {}),
      log: (route, cause) =>
        fork(log.error("a request met a bug; the same one again is only counted", () => ({ route }), cause)),
    })
    const streams = new EventStreams({
      each: settings.rateLimits ? streamsOfOne : Number.POSITIVE_INFINITY,
      onDefect: (cause) => report("/events", cause),
      patienceMs: tolerance.unreadEventsMs,
    })
    const guard = new PageGuard({
      host: settings.host,
      names: settings.names ?? [],
      isProxied: ClientAddress.isForwarded(settings),
      words: settings.words,
    })
    const now = (): number => performance.now()
    const connections = new Connections({
      total: tolerance.connections,
      isProxy: ClientAddress.isProxy(settings),
      now,
    })
    const expel = (socket: Socket): void => connections.expel(socket)
    const unread = new Budget(tolerance.unreadBytes)
    const responder = new Responder({
      now,
      errors: settings.errors,
      onAnswer: settings.onAnswer ?? (() => {}),
      onDefect: report,
      ...(freshness === undefined ? {} : { stamp: () => [Freshness.HEADER, String(freshness.asOf())] }),
      expel,
      onUnread: (response, client) => limitUnread(response, client, unread, tolerance.silenceMs),
    })
    const { rateLimits, limit, livenessPath } = settings
    const admission = new Admission({ guard, rateLimits, limit, livenessPath, now })
    const scheduler = new TurnScheduler({
      now,
      turnMs: TURN_MS,
      isPressed: orFalse(settings.isPressed ?? (() => false), report),
      pauseMs: PRESSED_EVERY_MS,
    })
    const bodies = new Budget(tolerance.bodyBytes)
    const { unwrittenMs } = tolerance
    const dispatcher = new Dispatcher({
      ...{ admission, responder, scheduler, fork, streams, bodies },
      ...{ freshness, unwrittenMs },
    })
    const listener = new Listener({
      endpoints,
      clientOf: ClientAddress.reader(settings),
      admission,
      dispatcher,
      responder,
      now,
      pages: settings.pages ?? (() => undefined),
      expel,
    })
    const probes = new Probes({ path: livenessPath, answer: liveness(endpoints, settings, Run.make(fork), report) })
    const server = make(tolerance, listener, { streams, connections, probes })
    const stop = (): void => {
      responder.drain()
      streams.endAll()
      probes.closeAll()
    }
    const isUnread = (): boolean => unread.used > 0
    yield* Effect.addFinalizer(() => drain(server, { stop, isUnread, drainMs: tolerance.drainMs }))
    const { address, port } = yield* listen(server, placeOf(settings))
    guard.boundTo(address)
    server.on("error", (error) => fork(log.error("the HTTP server failed", () => ({ error: error.message }))))
    return { host: settings.host, port }
  })

/** Serves the groups of an interface while the scope lives. */
export const serve = <Id extends string, Groups extends Definition.AnyGroup, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  settings: Settings,
): Layer.Layer<Server, CannotListen, Group.All<Id, Groups>> => Layer.scoped(Server, start(api, settings))
