/**
 * Where requests come in. One listener answers every endpoint and makes the checks in their order: name of the host, global
 * limit, path and method, testnet gate, origin, the endpoint's limit, content type and size, JSON, schema; then the handler
 * has the word. Plain code, because every request passes it; Effect begins at the handler.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Cause, type Effect, Either, Exit } from "effect"
import type { Budget } from "../admission/Budget.js"
import * as ClientAddress from "../admission/ClientAddress.js"
import type { LocalGuard } from "../admission/LocalGuard.js"
import { RateLimiter } from "../admission/RateLimiter.js"
import { Readers } from "../admission/Readers.js"
import { TurnScheduler } from "../admission/TurnScheduler.js"
import * as Access from "../api/Access.js"
import { contentType as eventStream, streamsOfOne } from "../api/Events.js"
import * as Failure from "../api/Failure.js"
import * as Answer from "./Answer.js"
import type * as Content from "./Content.js"
import { EncodedAnswers } from "./EncodedAnswers.js"
import type * as Endpoint from "./Endpoint.js"
import type { EventStreams } from "./EventStreams.js"
import * as Reply from "./Reply.js"
import * as RequestBody from "./RequestBody.js"
import * as ResponseHeaders from "./ResponseHeaders.js"
import { type Match, Router } from "./Router.js"
import * as Run from "./Run.js"
import * as Submissions from "./Submissions.js"

/** What is told about every answer. `route` is the path as it is defined, or `none`. */
export interface Answered {
  readonly route: string
  readonly method: string
  readonly status: number
  readonly milliseconds: number
}

export interface Options {
  readonly endpoints: ReadonlyArray<Endpoint.Endpoint>
  readonly isMainnet: boolean
  readonly clientOf: (request: IncomingMessage) => string
  readonly rateLimits: boolean
  /** Milliseconds of a clock that never runs backwards. */
  readonly now: () => number
  readonly runFork: Run.Fork
  /** Pages besides the endpoints, such as the explorer. */
  readonly pages: (path: string, request: IncomingMessage) => Reply.Reply | undefined
  readonly onAnswer: (answered: Answered) => void
  readonly onDefect: (route: string, cause: Cause.Cause<unknown>) => void
  /** Told about an answer that the client did not read at once. */
  readonly onUnread: (response: ServerResponse, client: string) => void
  /** Told of a connection that is closed because too much was sent ahead on it. */
  readonly onFlood: (socket: Socket) => void
  readonly guard: LocalGuard
  readonly streams: EventStreams
  readonly bodies: Budget
  /** Whether the node is late with its own work, and bodies have to wait for it. */
  readonly isPressed: () => boolean
}

/** An endpoint with what the running server keeps for it. */
interface Station {
  readonly endpoint: Endpoint.Endpoint
  readonly limiter: RateLimiter | undefined
  readonly serve: (visit: Visit, match: Match<Station>) => void
}

/** One request on its way. */
interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  client: string
  readonly startedAt: number
  /** The same in whole milliseconds, as limits count. */
  readonly at: number
  path: string
  query: string
  /** The client waits to be told that it may send its body. */
  readonly awaitsContinue: boolean
  /** As how many requests it counts by now. */
  counted: number
  /** As it is defined, for the figures. */
  route: string
  headers: ResponseHeaders.ResponseHeaders
}

type Params = Endpoint.Input["params"]

/** A request without a body that has to be answered by its handler. */
interface Reading {
  readonly path: string
  readonly effect: () => Effect.Effect<unknown, Failure.Failure>
  readonly leave: () => void
}

/** How long requests may use one turn of the event loop: bodies from reading to answering, others until their handler waits. */
const TURN_MS = 8
/** So often they may use it while the node is late: a sixth of the thread. */
const PRESSED_EVERY_MS = 50

/** Handlers without a body that are under way. One that reads a stretch of the DAG holds some megabytes. */
const READERS_OF_ONE = 16
const READERS = 64

const NONE: ResponseHeaders.ResponseHeaders = []
const PAGE_METHODS = ["GET", "HEAD", "OPTIONS"]

/** Fewer ask for what has a limit of its own. */
const CLIENTS_OF_AN_ENDPOINT = 8_192

const limiterOf = ({ requests, windowSeconds }: Access.Limit, capacity?: number): RateLimiter =>
  new RateLimiter({
    requests,
    windowMs: windowSeconds * 1000,
    networkOf: ClientAddress.networkOf,
    ...(capacity === undefined ? {} : { capacity }),
  })

const rateLimited = (what: string, { requests, windowSeconds, hint }: Access.Limit, waitMs: number) => {
  const wait = Math.ceil(waitMs / 1000)
  const advice = hint === undefined ? "" : ` (${hint})`
  return new Failure.RateLimited({
    message: `more than ${requests} requests ${what} within ${windowSeconds} s; ask again in ${wait} s${advice}`,
    limit: requests,
    window_seconds: windowSeconds,
    retry_after_seconds: wait,
  })
}

/**
 * What JSON costs follows from its bytes: to parse a megabyte takes as long as to answer some hundred requests. The largest
 * array must still be within the limit.
 */
const BYTES_OF_A_REQUEST = 2_048

/** So many refusals for being too many are answered on a connection; then it is closed. */
const REFUSALS_OF_A_CONNECTION = 16

/**
 * Pages from elsewhere that are visited on this machine count as one more client: what they use up, in images alone if need
 * be, is not taken from the people and programs here, all of whom share one address.
 */
const FOR_A_PAGE = " for a page"

const LONGEST_PATH_SHOWN = 100

/** Also one that lost a character on its way: whatever is longer than an address. */
const COULD_BE_A_KEY = /[0-9a-f]{41,}/gi

/** A path as it came, but neither very long nor with a secret key that somebody took for a part of it. */
const shown = (path: string): string => {
  const text = path.replace(COULD_BE_A_KEY, "…")
  return text.length > LONGEST_PATH_SHOWN ? `${text.slice(0, LONGEST_PATH_SHOWN)}…` : text
}

/** Path and query of a request target, which may also be a whole URL. */
const splitTarget = (target: string): readonly [path: string, query: string] => {
  const local = target.startsWith("/") ? target : target.replace(/^[a-z]+:\/\/[^/?]*/i, "")
  const mark = local.indexOf("?")
  return mark < 0 ? [local, ""] : [local.slice(0, mark), local.slice(mark + 1)]
}

const isFailure = (error: unknown): error is Failure.Failure =>
  typeof error === "object" && error !== null && "_tag" in error

const stopping = new Failure.ShuttingDown({ message: "the node is stopping" })
const bug = new Failure.InternalError({ message: "the node failed to answer; its log has the cause" })
/** Made beforehand, for when making an answer is what fails. */
const lastWord = Reply.ofFailure(bug)

export class Edge {
  readonly #options: Options
  readonly #router: Router<Station>
  readonly #global: RateLimiter | undefined
  /** Preflights are counted by themselves: a page that may not ask for one would never see the refusal of its request. */
  readonly #preflights: RateLimiter | undefined
  /** How many refusals for being too many each connection has had. */
  readonly #refusals = new WeakMap<Socket, number>()
  readonly #run: Run.Run
  readonly #scheduler: TurnScheduler
  readonly #readers: Readers
  #isDraining = false

  constructor(options: Options) {
    this.#options = options
    this.#run = Run.make(options.runFork)
    this.#scheduler = new TurnScheduler({
      now: options.now,
      turnMs: TURN_MS,
      isPressed: () => this.#isPressed(),
      pauseMs: PRESSED_EVERY_MS,
    })
    this.#readers = new Readers({ scheduler: this.#scheduler, each: READERS_OF_ONE, total: READERS })
    this.#global = options.rateLimits ? limiterOf(Access.globalLimit) : undefined
    this.#preflights = options.rateLimits ? limiterOf(Access.globalLimit) : undefined
    this.#router = new Router(
      options.endpoints.map((endpoint) => ({
        method: endpoint.method,
        path: endpoint.path,
        target: {
          endpoint,
          limiter:
            options.rateLimits && endpoint.limit !== undefined
              ? limiterOf(endpoint.limit, CLIENTS_OF_AN_ENDPOINT)
              : undefined,
          serve: this.#serverOf(endpoint),
        },
      })),
    )
  }

  /** Asked in turns of nobody's, where nobody could answer for a bug. */
  #isPressed(): boolean {
    try {
      return this.#options.isPressed()
    } catch (defect) {
      this.#options.onDefect("none", Cause.die(defect))
      return false
    }
  }

  /** From now on everybody is sent away, and connections end with the answer that is owed on them. */
  drain(): void {
    this.#isDraining = true
    this.#options.streams.endAll()
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse, awaitsContinue = false): void => {
    // Sent ahead, behind more refusals than a connection has: whoever does so does not read them.
    if (response.socket === null && this.#isEnding(request.socket)) {
      if (!request.socket.destroyed) this.#options.onFlood(request.socket)
      request.socket.destroy()
      return
    }
    const startedAt = this.#options.now()
    const visit: Visit = {
      request,
      response,
      method: request.method ?? "GET",
      client: "unknown",
      startedAt,
      at: Math.floor(startedAt),
      path: "/",
      query: "",
      awaitsContinue,
      counted: 1,
      route: "none",
      headers: NONE,
    }
    this.#guard(visit, this.#admit)
  }

  /** Whatever goes wrong on the way, the request is answered and the process lives. */
  #guard(visit: Visit, step: (visit: Visit) => void, onDefect: () => void = () => {}): void {
    try {
      step(visit)
    } catch (defect) {
      this.#fail(visit, Cause.die(defect))
      onDefect()
    }
  }

  readonly #admit = (visit: Visit): undefined => {
    const { request, method, at } = visit
    visit.client = this.#options.clientOf(request)
    const [path, query] = splitTarget(request.url ?? "/")
    visit.path = path
    visit.query = query
    if (this.#isDraining) return this.#refuse(visit, stopping)
    const foreign = this.#options.guard.refusalOfHost(request)
    if (foreign !== undefined) return this.#refuseOften(visit, foreign)
    if (this.#options.guard.isForeignPage(request)) visit.client += FOR_A_PAGE
    const limiter = method === "OPTIONS" ? this.#preflights : this.#global
    const wait = limiter?.take(visit.client, at) ?? 0
    if (wait > 0) return this.#refuseGlobally(visit, limiter, wait)
    const match = this.#router.match(path)
    if (match === undefined) return this.#page(visit)
    visit.route = match.route.path
    if (method === "OPTIONS") return this.#preflight(visit, match.route.allowed)
    const station = match.route.byMethod.get(method === "HEAD" ? "GET" : method)
    if (station === undefined) return this.#refuseMethod(visit, match.route.allowed)
    this.#enter(visit, station, match)
  }

  #enter(visit: Visit, station: Station, match: Match<Station>): undefined {
    const { endpoint, limiter } = station
    const { client, at } = visit
    if (endpoint.onMainnet !== undefined) {
      if (this.#options.isMainnet) return this.#refuse(visit, endpoint.onMainnet)
      // Before the limit: a page must not be able to use up what the people at this machine may ask for.
      const foreign = this.#options.guard.refusalOfOrigin(visit.request)
      if (foreign !== undefined) return this.#refuse(visit, foreign)
    }
    if (limiter !== undefined && endpoint.limit !== undefined) {
      const wait = limiter.take(client, at)
      visit.headers = ResponseHeaders.rateLimit(endpoint.path, limiter, limiter.allowance(client, at))
      if (wait > 0) {
        return this.#refuse(visit, rateLimited(`to ${endpoint.method} ${endpoint.path}`, endpoint.limit, wait))
      }
    }
    station.serve(visit, match)
  }

  /** How requests to an endpoint are answered, with what is kept for it. */
  #serverOf(endpoint: Endpoint.Endpoint): Station["serve"] {
    switch (endpoint._tag) {
      case "Read": {
        const answers = new EncodedAnswers(endpoint.encode)
        return (visit, { params }) => this.#read(visit, endpoint, answers, params)
      }
      case "Listen":
        return (visit, { params }) => this.#listen(visit, endpoint, params)
      case "Write":
        return (visit, { params }) =>
          this.#receive(visit, RequestBody.oneValue, (body) => this.#take(visit, endpoint, params, body))
      case "Submit": {
        const submissions = new Submissions.Submissions(endpoint.handle, this.#run)
        return (visit) =>
          this.#receive(visit, Submissions.format, (submission) => {
            const refusal = Submissions.refusalOf(submission)
            if (refusal !== undefined) return this.#refuse(visit, refusal)
            if (!this.#counts(visit, Submissions.count(submission))) return
            submissions.handle(submission, (exit) =>
              this.#complete(visit, exit, (content) => this.#write(visit, endpoint.status, content)),
            )
          })
      }
    }
  }

  #receive<A>(visit: Visit, format: RequestBody.Format<A>, take: (body: A) => void): undefined {
    const refusal = RequestBody.refusalOf(visit.request, format.maximumBytes)
    if (refusal !== undefined) return this.#refuse(visit, refusal)
    if (visit.awaitsContinue) visit.response.writeContinue()
    const { bodies: budget } = this.#options
    const options = {
      client: visit.client,
      format,
      budget,
      scheduler: this.#scheduler,
      mayParse: (bytes: number): boolean => this.#counts(visit, Math.ceil(bytes / BYTES_OF_A_REQUEST)),
      guard: (step: () => void): void => this.#guard(visit, step),
    }
    RequestBody.read(visit.request, options, (body) => {
      if (Either.isLeft(body)) this.#refuse(visit, body.left)
      else take(body.right)
    })
  }

  /** Without a body. What is answered here already, and still holds, is all that most of those who ask want. */
  #read(visit: Visit, endpoint: Endpoint.Read, answers: EncodedAnswers, params: Params): undefined {
    const { request, client, query } = visit
    const path = endpoint.hasQuery ? `${visit.path}?${query}` : visit.path
    const known = answers.current(path)
    if (known !== undefined) return this.#write(visit, endpoint.status, known)
    const decoded = endpoint.decode({ client, params, query, request })
    if (Either.isLeft(decoded)) return this.#refuse(visit, decoded.left)
    if (!this.#counts(visit, endpoint.weight)) return
    const effect = () => endpoint.handle(decoded.right)
    this.#readers.enter(client, (leave) => {
      this.#guard(visit, () => this.#begin(visit, endpoint, answers, { path, leave, effect }), leave)
    })
  }

  /** When it is its turn: the client may have gone by now, and another one may have been answered the same. */
  #begin(visit: Visit, endpoint: Endpoint.Read, answers: EncodedAnswers, { path, leave, effect }: Reading): undefined {
    const known = answers.current(path)
    const isOver = visit.request.socket.destroyed || this.#isDraining || known !== undefined
    if (!isOver) {
      this.#run(effect(), (exit) => {
        this.#complete(visit, exit, (answer) => {
          const content = answer instanceof Answer.Versioned ? answers.keep(path, answer) : endpoint.encode(answer)
          this.#write(visit, endpoint.status, content)
        })
        leave()
      })
      return
    }
    leave()
    if (this.#isDraining) this.#refuse(visit, stopping)
    else if (known !== undefined) this.#write(visit, endpoint.status, known)
  }

  #take(visit: Visit, endpoint: Endpoint.Write, params: Params, body: unknown): undefined {
    const { request, client, query } = visit
    const decoded = endpoint.decode({ client, params, query, request }, body)
    if (Either.isLeft(decoded)) return this.#refuse(visit, decoded.left)
    this.#run(endpoint.handle(decoded.right), (exit) =>
      this.#complete(visit, exit, (answer) => this.#write(visit, endpoint.status, endpoint.encode(answer))),
    )
  }

  /** Answers what a handler came to. */
  #complete<A, E>(visit: Visit, exit: Exit.Exit<A, E>, onSuccess: (answer: A) => void): void {
    this.#guard(visit, () => {
      if (Exit.isSuccess(exit)) onSuccess(exit.value)
      else this.#fail(visit, exit.cause)
    })
  }

  /** Whether the client may ask as much as so many requests do; if not, that is answered. */
  #counts(visit: Visit, requests: number): boolean {
    const more = requests - visit.counted
    if (more <= 0) return true
    const wait = this.#global?.take(visit.client, Math.floor(this.#options.now()), more) ?? 0
    if (wait > 0) this.#refuseGlobally(visit, this.#global, wait)
    else visit.counted = requests
    return wait === 0
  }

  #listen(visit: Visit, endpoint: Endpoint.Listen, params: Params): undefined {
    const { streams, runFork } = this.#options
    const { response, request, client, query } = visit
    const decoded = endpoint.decode({ client, params, query, request })
    if (Either.isLeft(decoded)) return this.#refuse(visit, decoded.left)
    const entry = streams.enter(client, response)
    if (entry !== "taken") return this.#refuse(visit, noStream[entry])
    const begin = (events: Answer.EventStream): void => {
      if (response.destroyed || response.writableEnded) return
      // A stream ends with its connection, so that a stopping server need not wait for a next request.
      response.shouldKeepAlive = false
      response.writeHead(endpoint.status, [
        ...ResponseHeaders.bare,
        "Content-Type",
        eventStream,
        // A proxy that gathers a whole answer before it passes it on would gather for ever.
        "X-Accel-Buffering",
        "no",
      ])
      this.#answered(visit, endpoint.status)
      if (visit.method === "HEAD") response.end()
      else streams.serve(response, events, runFork)
    }
    this.#run(endpoint.handle(decoded.right), (exit) => this.#complete(visit, exit, begin))
  }

  #page(visit: Visit): undefined {
    const { method, path, request } = visit
    const page = this.#options.pages(path, request)
    if (page === undefined) {
      const message = `there is nothing at ${shown(path)}; GET /docs describes what there is`
      return this.#refuse(visit, new Failure.PathNotFound({ message }))
    }
    if (method === "OPTIONS") return this.#preflight(visit, PAGE_METHODS)
    if (method !== "GET" && method !== "HEAD") return this.#refuseMethod(visit, PAGE_METHODS)
    this.#write(visit, page.status, page.content, page.headers)
  }

  #preflight(visit: Visit, allowed: ReadonlyArray<string>): undefined {
    const { response } = visit
    response.writeHead(204, [...ResponseHeaders.bare, ...ResponseHeaders.preflight, "Allow", allowed.join(", ")])
    response.end()
    this.#answered(visit, 204)
  }

  #refuseMethod(visit: Visit, allowed: ReadonlyArray<string>): undefined {
    const message = `${visit.method} is not possible at ${shown(visit.path)}, only ${allowed.join(", ")}`
    this.#refuse(visit, new Failure.MethodNotAllowed({ message, allowed }))
  }

  #refuseGlobally(visit: Visit, limiter: RateLimiter | undefined, wait: number): undefined {
    if (limiter !== undefined) {
      visit.headers = ResponseHeaders.rateLimit("global", limiter, limiter.allowance(visit.client, visit.at))
    }
    this.#refuseOften(visit, rateLimited("in all", Access.globalLimit, wait))
  }

  /**
   * With what a client can bring about as often as it likes. After some of them its connection ends, and what it has sent
   * ahead on it is not even read: forty thousand requests fit into the buffers of one socket, and each costs as much as one
   * that is answered.
   */
  #refuseOften(visit: Visit, failure: Failure.Failure): undefined {
    const { socket } = visit.request
    this.#refusals.set(socket, (this.#refusals.get(socket) ?? 0) + 1)
    if (this.#isEnding(socket)) visit.response.shouldKeepAlive = false
    this.#refuse(visit, failure)
  }

  #isEnding(socket: Socket): boolean {
    return (this.#refusals.get(socket) ?? 0) > REFUSALS_OF_A_CONNECTION
  }

  #failureOf(visit: Visit, cause: Cause.Cause<unknown>): Failure.Failure {
    const failure = Cause.failureOrCause(cause)
    if (Either.isLeft(failure) && isFailure(failure.left)) return failure.left
    if (this.#isDraining && Cause.isInterruptedOnly(cause)) {
      return stopping
    }
    this.#options.onDefect(visit.route, cause)
    return bug
  }

  /** Also where saying so fails: no request is left without an end. */
  #fail(visit: Visit, cause: Cause.Cause<unknown>): undefined {
    const { response } = visit
    try {
      const failure = this.#failureOf(visit, cause)
      // An answer that was begun and cannot be finished must not look like one.
      if (response.headersSent && !response.writableEnded) response.destroy()
      else this.#refuse(visit, failure)
    } catch (defect) {
      this.#options.onDefect(visit.route, Cause.die(defect))
      if (response.headersSent) response.destroy()
      else response.writeHead(lastWord.status, lastWord.content.headers).end(lastWord.content.body)
    }
  }

  #refuse(visit: Visit, failure: Failure.Failure): undefined {
    const { request, response } = visit
    if (response.headersSent || response.destroyed) return
    // Told to go on or not, the client may send its body or may not: the next request could begin anywhere.
    if (visit.awaitsContinue && !request.complete) response.shouldKeepAlive = false
    const { status, headers, content } = Reply.ofFailure(failure)
    this.#write(
      visit,
      status,
      content,
      visit.method === "OPTIONS" ? [...headers, ...ResponseHeaders.preflight] : headers,
    )
    if (visit.method !== "GET" && visit.method !== "HEAD") RequestBody.refuse(request)
  }

  #write(
    visit: Visit,
    status: number,
    { headers, body, encoding }: Content.Content,
    more: ResponseHeaders.ResponseHeaders = NONE,
  ): undefined {
    const { response } = visit
    if (response.destroyed) return
    if (this.#isDraining) response.shouldKeepAlive = false
    const isPlain = more === NONE && visit.headers === NONE
    response.writeHead(status, isPlain ? headers : [...headers, ...visit.headers, ...more])
    response.end(body, encoding)
    if (response.writableLength > 0) this.#options.onUnread(response, visit.client)
    this.#answered(visit, status)
  }

  #answered({ route, method, startedAt }: Visit, status: number): void {
    this.#options.onAnswer({ route, method, status, milliseconds: this.#options.now() - startedAt })
  }
}

const noStream = {
  "client is full": new Failure.TooManyStreams({
    message: `this client has ${streamsOfOne} event streams open, and may have no more; close one`,
    limit: streamsOfOne,
    retry_after_seconds: 10,
  }),
  "all are taken": new Failure.Overloaded({
    message: "as many event streams as the node serves are open",
    retry_after_seconds: 10,
  }),
}
