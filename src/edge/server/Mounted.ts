/**
 * The same handlers under the library's own server, as routes for `HttpApiBuilder.api`, for programs that serve other
 * interfaces besides. Requests are decoded and answered as by our server. Its listener's features are missing: limits
 * of rate, connections, memory and time, cached answers, preflights, and responses to requests that match no endpoint.
 */
import { type HttpApi, HttpApiBuilder, HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Cause, Chunk, Context, Effect, Layer, Option, Stream } from "effect"
import * as Run from "../../effect3/fibers/Run.js"
import * as Definition from "../../effect3/http/Definition.js"
import * as Log from "../../node/log/Log.js"
import { contentType as eventStream } from "../definition/EventStream.js"
import * as Failure from "../definition/Failure.js"
import * as Batches from "./Batches.js"
import type * as Content from "./Content.js"
import * as Endpoint from "./Endpoint.js"
import * as EventStreams from "./EventStreams.js"
import * as Group from "./Group.js"
import * as Reply from "./Reply.js"
import * as RequestBody from "./RequestBody.js"
import { bug } from "./Responder.js"
import * as ResponseHeaders from "./ResponseHeaders.js"

const log = Log.for("rpc")

export interface Options extends Endpoint.Options {
  /** Translates service errors that handlers fail with. */
  readonly errors: Group.Errors
}

type Request = HttpServerRequest.HttpServerRequest

const pairs = (flat: ResponseHeaders.ResponseHeaders): ReadonlyArray<readonly [string, string]> =>
  Chunk.toReadonlyArray(Chunk.chunksOf(Chunk.fromIterable(flat), 2)).map((pair) => {
    const [name = "", value = ""] = pair
    return [name, value]
  })

const written = (status: number, { headers, body }: Content.Content, more: ResponseHeaders.ResponseHeaders = []) =>
  HttpServerResponse.uint8Array(Buffer.from(body), { status, headers: pairs([...headers, ...more]) })

const streamed = (status: number, events: unknown) => {
  if (!EventStreams.isEventStream(events)) throw new Error("the handler returned no event stream")
  const frames = Stream.mapChunks(events, (chunk) => Chunk.of(EventStreams.bytesOf(chunk)))
  const headers = pairs([...ResponseHeaders.bare, "X-Accel-Buffering", "no"])
  return HttpServerResponse.stream(frames, { status, contentType: eventStream, headers })
}

/** The router has already resolved %-escapes. */
const inputOf = (request: Request, params: Readonly<Record<string, string | undefined>>): Endpoint.Input => ({
  client: Option.getOrElse(request.remoteAddress, () => "unknown"),
  params: Object.fromEntries(Object.entries(params).map(([name, value = ""]) => [name, value.replaceAll("%", "%25")])),
  query: request.url.slice(request.url.includes("?") ? request.url.indexOf("?") + 1 : request.url.length),
  request,
})

const received = <A>(request: Request, format: RequestBody.Format<A>) =>
  Effect.gen(function* () {
    const limit = format.maximumBytes
    const refusal = RequestBody.refusalOf(request, limit)
    if (refusal !== undefined) return yield* Effect.fail(refusal)
    const bytes = yield* Effect.mapError(request.arrayBuffer, () => RequestBody.tooLarge(limit))
    return yield* RequestBody.parsed(Buffer.from(bytes), format)
  }).pipe(HttpServerRequest.withMaxBodySize(Option.some(format.maximumBytes)))

type Answering = (
  request: Request,
  input: Endpoint.Input,
) => Effect.Effect<HttpServerResponse.HttpServerResponse, unknown>

/** Called once per endpoint; the result holds the endpoint's state. */
const answering = (endpoint: Endpoint.Endpoint, run: Run.Run): Answering => {
  const { status } = endpoint
  switch (endpoint._tag) {
    case "Read":
      return (_, input) =>
        Effect.flatMap(endpoint.decode(input), endpoint.handle).pipe(
          // A refusal reveals the memory that it was made from just as an answer does.
          Effect.ensuring(endpoint.memory?.written ?? Effect.void),
          Effect.map((answer) => written(status, endpoint.encode(answer))),
        )
    case "Listen":
      return (_, input) =>
        Effect.map(Effect.flatMap(endpoint.decode(input), endpoint.handle), (events) => streamed(status, events))
    case "Write":
      return (request, input) =>
        received(request, RequestBody.oneValue).pipe(
          Effect.flatMap((body) => endpoint.decode(input, body)),
          Effect.flatMap(endpoint.handle),
          Effect.map((answer) => written(status, endpoint.encode(answer))),
        )
    case "Batch": {
      const { batch, handle } = endpoint
      const batches = new Batches.Batches({ ...batch, status, handle, run })
      const format = Batches.format(batch)
      return (request, input) =>
        received(request, format).pipe(
          Effect.zipLeft(endpoint.decode(input)),
          Effect.filterOrElse(
            (body) => Batches.refusalOf(body, batch) === undefined,
            (body) => Effect.fail(Batches.refusalOf(body, batch)),
          ),
          Effect.flatMap((body) => Effect.async<Content.Content, unknown>((resume) => batches.handle(body, resume))),
          Effect.map((content) => written(status, content)),
        )
    }
  }
}

/** Guarded endpoints are open to programs only, because nothing tells which pages are the server's own. */
const gateOf = ({ closed, isGuarded, method, path }: Endpoint.Endpoint, { headers }: Request) => {
  if (closed !== undefined) return Effect.fail(closed)
  if (!isGuarded || headers["origin"] === undefined) return Effect.void
  return Effect.fail(new Failure.ForeignOrigin({ message: `no web page may use ${method} ${path} here` }))
}

const refused = (cause: Cause.Cause<unknown>, path: string, errors: Group.Errors) => {
  const failure = Option.flatMap(Cause.failureOption(cause), (error) => Reply.failureOf(error, errors))
  const { status, headers, content } = Reply.ofFailure(Option.getOrElse(failure, () => bug))
  const told = Option.isSome(failure) ? Effect.void : log.error("a request met a bug", () => ({ route: path }), cause)
  return Effect.as(told, written(status, content, headers))
}

const routeOf = (endpoint: Endpoint.Endpoint, run: Run.Run, { errors }: Options) => {
  const answer = answering(endpoint, run)
  const handler = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { params } = yield* HttpRouter.RouteContext
    yield* gateOf(endpoint, request)
    return yield* answer(request, inputOf(request, params))
  })
  // Handlers outlive their client.
  return HttpRouter.makeRoute(
    endpoint.method,
    endpoint.path,
    Effect.catchAllCause(handler, (cause) => refused(cause, endpoint.path, errors)),
  )
}

/** The interface's groups for `HttpApiBuilder.api`. */
export const layer = <Id extends string, Groups extends Definition.AnyGroup, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  options: Options,
): Layer.Layer<Definition.ServicesOf<Id, Groups>, never, Group.All<Id, Groups>> =>
  HttpApiBuilder.Router.use((router) =>
    Effect.gen(function* () {
      const run = Run.make(yield* Run.scopedFork)
      const endpoints = Endpoint.all(Definition.all(api), yield* Group.all(api), options)
      yield* router.concat(HttpRouter.fromIterable(endpoints.map((endpoint) => routeOf(endpoint, run, options))))
    }),
  ).pipe(Layer.provideMerge(Layer.succeedContext(Context.unsafeMake<Definition.ServicesOf<Id, Groups>>(new Map()))))
