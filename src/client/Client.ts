/**
 * The typed client, derived from the same definition as the server: as Effects (`make`) or as plain promises
 * (`connect`). Runs in browsers. Repeats a request by itself after 429 and 503 with `Retry-After`.
 */
import { FetchHttpClient, HttpApiClient, HttpClient, type HttpClientResponse } from "@effect/platform"
import { Cause, Effect, Exit, Runtime, Schema, Stream } from "effect"
import * as Definition from "../effect3/http/Definition.js"
import { Api } from "../rpc/api/Api.js"
import * as Failure from "../rpc/api/Failure.js"
import * as Events from "./Events.js"
import { RequestRefused } from "./RequestRefused.js"

export { RequestRefused }
export type NumberedEvent = Events.NumberedEvent

export interface Options {
  /** How often a request is repeated; 3 by default, 0 for never. */
  readonly retries?: number
  /** The client gives up if the node asks for a longer wait; 30 seconds by default. */
  readonly longestWaitMs?: number
}

const STANDARD_RETRIES = 3
const STANDARD_LONGEST_WAIT_MS = 30_000

/** How long to wait before repeating the request; none if it must not be repeated. */
const waitOf = ({ status, headers }: HttpClientResponse.HttpClientResponse): number | undefined => {
  if (status !== 429 && status !== 503) return undefined
  const seconds = Number(headers["retry-after"] ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined
}

const withPatience =
  ({ retries = STANDARD_RETRIES, longestWaitMs = STANDARD_LONGEST_WAIT_MS }: Options) =>
  (client: HttpClient.HttpClient): HttpClient.HttpClient => {
    const ask = <E, R>(
      send: Effect.Effect<HttpClientResponse.HttpClientResponse, E, R>,
      left: number,
    ): Effect.Effect<HttpClientResponse.HttpClientResponse, E, R> =>
      Effect.flatMap(send, (response) => {
        const wait = waitOf(response)
        return left === 0 || wait === undefined || wait > longestWaitMs
          ? Effect.succeed(response)
          : Effect.zipRight(Effect.sleep(wait), ask(send, left - 1))
      })
    return HttpClient.transform(client, (send) => ask(send, retries))
  }

const withoutSlash = (url: string): string => url.replace(/\/+$/, "")

/** The client as Effects: `client.core.status()`, `client.transactions.submit({ payload })`, by group and endpoint. */
export const make = (url: string, options: Options = {}) =>
  HttpApiClient.make(Api, { baseUrl: withoutSlash(url), transformClient: withPatience(options) })

/** Events as they happen, until the connection ends; starts after the event `after` if the node still has it. */
export const events = (url: string, after?: string) => Events.once(withoutSlash(url), after)

/** The same without an end: a lost connection is opened again and continues after the last event. */
export const follow = (url: string, after?: string) => Events.follow(withoutSlash(url), after)

/** The parts of a request that the endpoint takes; a part with only optional fields is optional. */
type Part<Name extends string, A> = [A] extends [never]
  ? unknown
  : Record<never, never> extends A
    ? { readonly [N in Name]?: A }
    : { readonly [N in Name]: A }

type Arguments<Request> = unknown extends Request ? [] : [request: Request]

type IsList<A> = A extends ReadonlyArray<unknown> ? true : false

/** An endpoint that takes one item or several answers one with one and several with several. */
type AnswerTo<Sent, Success> = [Sent] extends [never]
  ? Success
  : true extends IsList<Success>
    ? true extends IsList<Sent>
      ? Extract<Success, ReadonlyArray<unknown>>
      : Exclude<Success, ReadonlyArray<unknown>>
    : Success

type Method<P> = P extends Definition.Parts
  ? <const Sent extends P["body"]>(
      ...request: Arguments<Part<"path", P["params"]> & Part<"urlParams", P["query"]> & Part<"payload", Sent>>
    ) => Promise<AnswerTo<Sent, P["success"]>>
  : never

type Methods<Name extends Definition.GroupName<typeof Api>> = {
  readonly [E in keyof Definition.Endpoints<typeof Api, Name>]: Method<
    Definition.PartsOf<Definition.Endpoints<typeof Api, Name>[E]>
  >
}

/** The client as promises, which reject with `RequestRefused` if the node refuses. */
export type PromiseClient = {
  readonly [Name in Exclude<Definition.GroupName<typeof Api>, "events">]: Methods<Name>
} & {
  /** Until the connection ends. */
  readonly events: (after?: string) => AsyncIterable<NumberedEvent>
  /** Without an end: a lost connection is opened again and continues after the last event. */
  readonly follow: (after?: string) => AsyncIterable<NumberedEvent>
}

const isFailure = Schema.is(Failure.schema)

const promiseOf = <A>(effect: Effect.Effect<A, unknown>): Promise<A> =>
  Effect.runPromiseExit(effect).then((exit) => {
    if (Exit.isSuccess(exit)) return exit.value
    const error = Cause.squash(exit.cause)
    throw isFailure(error) ? new RequestRefused(error) : error
  })

type Untyped = Readonly<Record<string, Readonly<Record<string, (request: unknown) => Effect.Effect<unknown, unknown>>>>>

/** The client for programs without Effect: `const client = connect("http://127.0.0.1:10333")`. */
export const connect = (url: string, options: Options = {}): PromiseClient => {
  const effects: unknown = Effect.runSync(Effect.provide(make(url, options), FetchHttpClient.layer))
  const promises: Record<string, unknown> = {}
  for (const { group, name } of Definition.all(Api)) {
    const method = (effects as Untyped)[group]?.[name]
    if (method === undefined) continue
    const methods = promises[group] as Record<string, unknown> | undefined
    promises[group] = { ...methods, [name]: (request?: object) => promiseOf(method({ urlParams: {}, ...request })) }
  }
  const iterable = <E>(stream: Stream.Stream<NumberedEvent, E, HttpClient.HttpClient>) =>
    Stream.toAsyncIterableRuntime(Stream.provideLayer(stream, FetchHttpClient.layer), Runtime.defaultRuntime)
  promises["events"] = (after?: string) => iterable(events(url, after))
  promises["follow"] = (after?: string) => iterable(follow(url, after))
  // One method for each endpoint of the definition that the type is derived from.
  return promises as unknown as PromiseClient
}
