/** Passes an admitted request to its handler and the result to the responder. */
import { Effect, Either, Exit } from "effect"
import * as Run from "../../effect3/fibers/Run.js"
import type { Admission } from "../admission/Admission.js"
import type { Budget } from "../admission/Budget.js"
import { Readers } from "../admission/Readers.js"
import type { TurnScheduler } from "../admission/TurnScheduler.js"
import { contentType as eventStream, streamsOfOne } from "../definition/EventStream.js"
import * as Failure from "../definition/Failure.js"
import * as Batches from "./Batches.js"
import type { Content } from "./Content.js"
import { EncodedAnswers } from "./EncodedAnswers.js"
import type * as Endpoint from "./Endpoint.js"
import { type EventStreams, isEventStream } from "./EventStreams.js"
import type { Exchange } from "./Exchange.js"
import * as Freshness from "./Freshness.js"
import type { Request } from "./Group.js"
import * as Memory from "./Memory.js"
import * as RequestBody from "./RequestBody.js"
import type { Responder } from "./Responder.js"

export interface Options {
  readonly admission: Admission
  readonly responder: Responder
  readonly scheduler: TurnScheduler
  readonly fork: Run.Fork
  readonly streams: EventStreams
  /** The memory of arriving bodies. */
  readonly bodies: Budget
  /** Set on servers that can be behind others. */
  readonly freshness: Freshness.Freshness | undefined
  /** How long a response from memory waits for the disk. */
  readonly unwrittenMs: number
}

type Params = Endpoint.Input["params"]

/** How an endpoint's requests are answered. */
export type Dispatch = (exchange: Exchange, params: Params) => void

/** Concurrent requests without a body for each client. One that reads a part of the DAG holds some megabytes. */
const READERS_PER_CLIENT = 16
const READERS = 64

/** Parsing a megabyte of JSON takes as long as some hundred requests. The largest array must fit into the limit. */
const BYTES_PER_REQUEST = 2_048

const noStream = {
  "client is full": new Failure.TooManyStreams({
    message: `this client has ${streamsOfOne} open event streams, the maximum; close one`,
    limit: streamsOfOne,
    retry_after_seconds: 10,
  }),
  "all are taken": new Failure.Overloaded({
    message: "all event streams of this server are in use",
    retry_after_seconds: 10,
  }),
}

const inputOf = ({ client, query, request }: Exchange, params: Params): Endpoint.Input => ({
  client,
  params,
  query,
  request,
})

export class Dispatcher {
  readonly #options: Options
  readonly #run: Run.Run
  readonly #readers: Readers

  constructor(options: Options) {
    this.#options = options
    this.#run = Run.make(options.fork)
    this.#readers = new Readers({ scheduler: options.scheduler, each: READERS_PER_CLIENT, total: READERS })
  }

  /** Called once per endpoint; the result holds the endpoint's state. */
  dispatchOf(endpoint: Endpoint.Endpoint): Dispatch {
    switch (endpoint._tag) {
      case "Read":
        return this.#inTime(this.#reads(endpoint))
      case "Write":
        return this.#writes(endpoint)
      case "Batch":
        return this.#batches(endpoint)
      case "Listen":
        return this.#listens(endpoint)
    }
  }

  /** Requests without a body. Most are answered here from an encoded answer that is still current. */
  #reads(endpoint: Endpoint.Read): Dispatch {
    const { admission, responder } = this.#options
    const answers = new EncodedAnswers()
    return (exchange, params) => {
      const path = exchange.query === "" ? exchange.path : `${exchange.path}?${exchange.query}`
      const known = answers.current(path)
      if (known !== undefined) return this.#tell(exchange, endpoint, known)
      const decoded = endpoint.decode(inputOf(exchange, params))
      if (Either.isLeft(decoded)) return responder.refuse(exchange, decoded.left)
      const refusal = admission.refusalOfCost(exchange, endpoint.weightOf(decoded.right))
      if (refusal !== undefined) return responder.refuse(exchange, refusal)
      this.#readers.enter(exchange.client, (leave) => {
        responder.guard(
          exchange,
          () => this.#beginReading(exchange, endpoint, answers, path, decoded.right, leave),
          leave,
        )
      })
    }
  }

  /** Waits until the commit that the request asks for is reached. */
  #inTime(dispatch: Dispatch): Dispatch {
    const { freshness, responder } = this.#options
    if (freshness === undefined) return dispatch
    return (exchange, params) => {
      const wanted = Freshness.wantedBy(exchange.request)
      if (Either.isLeft(wanted)) return responder.refuse(exchange, wanted.left)
      if (wanted.right === undefined || wanted.right <= freshness.asOf()) return dispatch(exchange, params)
      this.#run(Freshness.reach(freshness, wanted.right), (exit) =>
        responder.complete(exchange, exit, () => dispatch(exchange, params)),
      )
    }
  }

  /**
   * Runs when its turn comes. By now the client can have left, or another request can have produced the same answer.
   */
  #beginReading(
    exchange: Exchange,
    endpoint: Endpoint.Read,
    answers: EncodedAnswers,
    path: string,
    request: Request,
    leave: () => void,
  ): void {
    const { responder } = this.#options
    const known = answers.current(path)
    if (exchange.request.socket.destroyed || responder.isDraining || known !== undefined) {
      leave()
      if (responder.isDraining) responder.refuseAsStopping(exchange)
      else if (known !== undefined) this.#tell(exchange, endpoint, known)
      return
    }
    const { restart } = endpoint
    const [version, start] = [endpoint.version?.(), restart()]
    const encoded = (answer: unknown): Content => {
      const content = endpoint.encode(answer)
      if (endpoint.isFinal(answer)) answers.keep(path, content, start, restart)
      else if (endpoint.version !== undefined) answers.keep(path, content, version, endpoint.version)
      return content
    }
    this.#run(endpoint.handle(request), (exit) => {
      responder.guard(exchange, () => this.#finish(exchange, endpoint, Exit.map(exit, encoded)))
      leave()
    })
  }

  #tell(exchange: Exchange, endpoint: Endpoint.Read, known: Content): undefined {
    if (endpoint.memory?.isWritten() === false) this.#finish(exchange, endpoint, Exit.succeed(known))
    else this.#options.responder.write(exchange, endpoint.status, known)
  }

  /** A refusal reveals the memory that it was made from just as an answer does. */
  #finish(exchange: Exchange, { memory, status }: Endpoint.Read, exit: Exit.Exit<Content, unknown>): void {
    const { responder, unwrittenMs } = this.#options
    const finish = (exit: Exit.Exit<Content, unknown>): void =>
      responder.complete(exchange, exit, (content) => responder.write(exchange, status, content))
    if (memory === undefined || memory.isWritten()) finish(exit)
    else this.#run(Effect.zipRight(Memory.written(memory, unwrittenMs), exit), finish)
  }

  #writes(endpoint: Endpoint.Write): Dispatch {
    const { responder } = this.#options
    return (exchange, params) =>
      this.#receive(exchange, RequestBody.oneValue, (body) => {
        const decoded = endpoint.decode(inputOf(exchange, params), body)
        if (Either.isLeft(decoded)) return responder.refuse(exchange, decoded.left)
        this.#run(endpoint.handle(decoded.right), (exit) =>
          responder.complete(exchange, exit, (answer) =>
            responder.write(exchange, endpoint.status, endpoint.encode(answer)),
          ),
        )
      })
  }

  #batches(endpoint: Endpoint.Batch): Dispatch {
    const { admission, responder } = this.#options
    const { batch, decode, handle, status } = endpoint
    const batches = new Batches.Batches({ ...batch, status, handle, run: this.#run })
    const format = Batches.format(batch)
    return (exchange, params) =>
      this.#receive(exchange, format, (body) => {
        const decoded = decode(inputOf(exchange, params))
        if (Either.isLeft(decoded)) return responder.refuse(exchange, decoded.left)
        const refusal = Batches.refusalOf(body, batch) ?? admission.refusalOfCost(exchange, Batches.count(body))
        if (refusal !== undefined) return responder.refuse(exchange, refusal)
        batches.handle(body, (exit) =>
          responder.complete(exchange, exit, (content) => responder.write(exchange, status, content)),
        )
      })
  }

  #listens(endpoint: Endpoint.Listen): Dispatch {
    const { admission, responder, streams } = this.#options
    return (exchange, params) => {
      const decoded = endpoint.decode(inputOf(exchange, params))
      if (Either.isLeft(decoded)) return responder.refuse(exchange, decoded.left)
      const entry = streams.enter(exchange.client, exchange.response, admission.isForeign(exchange))
      if (entry !== "taken") return responder.refuse(exchange, noStream[entry])
      this.#run(endpoint.handle(decoded.right), (exit) =>
        responder.complete(exchange, exit, (events) => this.#stream(exchange, endpoint.status, events)),
      )
    }
  }

  #stream(exchange: Exchange, status: number, events: unknown): void {
    if (!isEventStream(events)) throw new Error("the handler returned no event stream")
    const { responder, streams, fork } = this.#options
    const { response, method } = exchange
    if (response.destroyed || response.writableEnded) return
    // A stream ends with its connection, so that a stopping server need not wait for another request.
    response.shouldKeepAlive = false
    // Without this header, a buffering proxy would hold the stream back forever.
    responder.writeHead(exchange, status, ["Content-Type", eventStream, "X-Accel-Buffering", "no"])
    if (method === "HEAD") response.end()
    else streams.serve(response, events, fork)
  }

  #receive<A>(exchange: Exchange, format: RequestBody.Format<A>, take: (body: A) => void): undefined {
    const { admission, responder, scheduler, bodies } = this.#options
    const { client, request, response } = exchange
    const refusalOfCost = (bytes: number) => admission.refusalOfCost(exchange, Math.ceil(bytes / BYTES_PER_REQUEST))
    const refusal = RequestBody.refusalOf(request, format.maximumBytes) ?? refusalOfCost(RequestBody.announced(request))
    if (refusal !== undefined) return responder.refuse(exchange, refusal)
    if (exchange.awaitsContinue) response.writeContinue()
    const options = {
      client,
      format,
      budget: bodies,
      scheduler,
      refusalOfCost,
      guard: (step: () => void) => responder.guard(exchange, step),
      onConfetti: () => {
        response.shouldKeepAlive = false
      },
    }
    RequestBody.read(request, options, (body) => {
      if (Either.isLeft(body)) responder.refuse(exchange, body.left)
      else take(body.right)
    })
  }
}
