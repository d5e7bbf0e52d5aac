/**
 * An endpoint made ready: its schemas compiled to plain functions, its annotations read, its handler found. Everything
 * that depends on the definition alone happens here, once, before the first request.
 */
import { type Context, type Effect, Either, Predicate } from "effect"
import * as Definition from "../../effect3/http/Definition.js"
import * as Json from "../../protocol/encoding/Json.js"
import * as JsonProblem from "../../protocol/encoding/JsonProblem.js"
import * as Access from "../api/Access.js"
import { Api } from "../api/Api.js"
import { contentType as eventStream } from "../api/Events.js"
import * as Failure from "../api/Failure.js"
import { submit } from "../api/Transactions.js"
import type * as Answer from "./Answer.js"
import * as Content from "./Content.js"
import type * as Handlers from "./Handlers.js"
import type * as Submissions from "./Submissions.js"

/** The parts of a request before they are decoded. */
export interface Input {
  readonly client: string
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  readonly request: { readonly headers: unknown }
}

/** The argument of a handler; `Handlers.Handler` derives its fields from the endpoint. */
export type Request = Readonly<Record<string, unknown>>

type Decoded<A> = Either.Either<A, Failure.InvalidRequest>

interface Common {
  readonly method: string
  /** As it is defined, `/balance/:address`: the name under which it is measured. */
  readonly path: string
  readonly limit: Access.Limit | undefined
  /** On a mainnet the endpoint answers this. */
  readonly onMainnet: Failure.TestnetOnly | undefined
  readonly status: number
}

type Handle<A> = (request: Request) => Effect.Effect<A, Failure.Failure>

/** A request without a body. */
export interface Read extends Common {
  readonly _tag: "Read"
  /** How many requests this one counts as, in the limit over all endpoints. */
  readonly weightOf: (request: Request) => number
  readonly decode: (input: Input) => Decoded<Request>
  readonly handle: Handle<unknown>
  readonly encode: (value: unknown) => Content.Content
}

/** A request with a body. */
export interface Write extends Common {
  readonly _tag: "Write"
  readonly decode: (input: Input, body: unknown) => Decoded<Request>
  readonly handle: Handle<unknown>
  readonly encode: (value: unknown) => Content.Content
}

/** Answered with events until the client leaves. */
export interface Listen extends Common {
  readonly _tag: "Listen"
  readonly decode: (input: Input) => Decoded<Request>
  readonly handle: Handle<Answer.EventStream>
}

/** Takes signed transactions. */
export interface Submit extends Common {
  readonly _tag: "Submit"
  readonly decode: (input: Input) => Decoded<Request>
  readonly handle: Submissions.Handle
}

export type Endpoint = Read | Write | Listen | Submit

const decoder = (schema: Definition.AnySchema, whole: string, unknownFields: "error" | "ignore") => {
  const decode = Json.decoder(schema, whole, unknownFields)
  return (input: unknown): Decoded<unknown> => Either.mapLeft(decode(input), Failure.InvalidRequest.of)
}

const NOTHING: Decoded<undefined> = Either.right(undefined)

const nothing = () => NOTHING

const optionalDecoder = (schema: Definition.AnySchema | undefined, whole: string) =>
  schema === undefined ? nothing : decoder(schema, whole, "ignore")

const badEscape = (name: string) =>
  Either.left(new Failure.InvalidRequest({ message: `${name}: a broken %-escape in the path`, field: name }))

/** The parameters with their %-escapes resolved. */
const unescaped = (params: Input["params"]): Decoded<Input["params"]> => {
  let result: Record<string, string> | undefined
  for (const [name, value] of Object.entries(params)) {
    if (!value.includes("%")) continue
    try {
      result = { ...(result ?? params), [name]: decodeURIComponent(value) }
    } catch {
      return badEscape(name)
    }
  }
  return Either.right(result ?? params)
}

const invalidQuery = (name: string, reason: string): Decoded<never> =>
  Either.left(Failure.InvalidRequest.of(JsonProblem.at([name], "query", reason)))

/** The parameters of a query, none of which may stand there twice. */
const queryOf = (query: string): Decoded<Readonly<Record<string, string>>> => {
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (parameters.has(name)) return invalidQuery(name, "stands twice in the query")
    parameters.set(name, value)
  }
  return Either.right(Object.fromEntries(parameters))
}

/** Refuses every parameter, for an endpoint that has none. */
const emptyQuery = (query: string): Decoded<undefined> => {
  for (const [name] of new URLSearchParams(query)) {
    return invalidQuery(name, "no such query parameter; this endpoint has none")
  }
  return NOTHING
}

const queryDecoder = (schema: Definition.AnySchema | undefined) => {
  if (schema === undefined) return emptyQuery
  const decode = decoder(schema, "query", "error")
  return (query: string): Decoded<unknown> => Either.flatMap(queryOf(query), decode)
}

const requestDecoder = (definition: Definition.Definition) => {
  const hasPath = definition.params !== undefined
  const decodePath = optionalDecoder(definition.params, "path")
  const decodeQuery = queryDecoder(definition.query)
  const decodeHeaders = optionalDecoder(definition.headers, "headers")
  return ({ client, params, query, request }: Input): Decoded<Request> => {
    const path = hasPath ? Either.flatMap(unescaped(params), decodePath) : NOTHING
    if (Either.isLeft(path)) return Either.left(path.left)
    const search = decodeQuery(query)
    if (Either.isLeft(search)) return Either.left(search.left)
    const head = decodeHeaders(request.headers)
    if (Either.isLeft(head)) return Either.left(head.left)
    return Either.right({ client, path: path.right, query: search.right, headers: head.right })
  }
}

const bodyDecoder = (definition: Definition.Definition, payload: Definition.AnySchema) => {
  const decodeHead = requestDecoder(definition)
  const decodeBody = decoder(payload, "body", "error")
  return (input: Input, body: unknown): Decoded<Request> =>
    Either.flatMap(decodeHead(input), (head) => Either.map(decodeBody(body), (body) => ({ ...head, body })))
}

const encoder = ({ isText, contentType, schema }: Definition.Definition["success"]) => {
  if (isText) return (value: unknown) => Content.text(contentType, String(value))
  const toJson = Json.encoder(schema)
  return (value: unknown) => Content.json(toJson(value))
}

const gate = ({ annotation, method, path }: Definition.Definition): Failure.TestnetOnly | undefined => {
  const instead = annotation(Access.TestnetOnly)
  if (instead === undefined) return undefined
  return new Failure.TestnetOnly({ message: `${method} ${path} works on a testnet only: ${instead}` })
}

const commonOf = (definition: Definition.Definition): Common => ({
  method: definition.method,
  path: definition.path,
  limit: definition.annotation(Access.RateLimit),
  onMainnet: gate(definition),
  status: definition.success.status,
})

const weigher =
  (weight: Context.Tag.Service<Access.Weight>) =>
  ({ query }: Request): number =>
    typeof weight === "number" ? weight : weight(Predicate.isReadonlyRecord(query) ? query : {})

const compile = (definition: Definition.Definition, handle: Handle<never>): Endpoint => {
  const { annotation, body, success } = definition
  const common = commonOf(definition)
  if (body !== undefined) {
    return { _tag: "Write", ...common, decode: bodyDecoder(definition, body), handle, encode: encoder(success) }
  }
  const decode = requestDecoder(definition)
  if (success.contentType === eventStream) return { _tag: "Listen", ...common, decode, handle }
  return {
    _tag: "Read",
    ...common,
    weightOf: weigher(annotation(Access.Weight) ?? 1),
    decode,
    handle,
    encode: encoder(success),
  }
}

/** Every endpoint of the interface with its handler. */
export const all = (handlers: Handlers.All): ReadonlyArray<Endpoint> => {
  // `Handlers.All` is derived from the same endpoints whose schemas decode the requests below, so that each handler gets
  // exactly what its type asks for; no type can say this about endpoints that come one after another out of a list.
  const untyped = handlers as unknown as Readonly<Record<string, Readonly<Record<string, Handle<never>>>>>
  return Definition.all(Api).map((definition): Endpoint => {
    const { group, name, path } = definition
    if (path === submit.path) {
      const decode = requestDecoder(definition)
      return { _tag: "Submit", ...commonOf(definition), decode, handle: handlers.transactions.submit }
    }
    const handle = untyped[group]?.[name]
    if (handle === undefined) throw new Error(`${group}.${name} has no handler`)
    return compile(definition, handle)
  })
}
