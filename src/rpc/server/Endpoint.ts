/**
 * An endpoint made ready: its schemas compiled to plain functions, its annotations read, its handler found. Everything
 * that depends on the definition alone happens here, once, before the first request.
 */
import { HttpApi, type HttpApiEndpoint, HttpApiSchema, type HttpMethod } from "@effect/platform"
import { type SchemaAST as AST, Context, type Effect, Either, Option, Schema } from "effect"
import * as Json from "../../protocol/encoding/Json.js"
import * as Access from "../api/Access.js"
import { Api } from "../api/Api.js"
import { contentType as eventStream } from "../api/Events.js"
import * as Failure from "../api/Failure.js"
import { Accepted, submit } from "../api/Transactions.js"
import type * as Answer from "./Answer.js"
import * as Content from "./Content.js"
import type * as Handlers from "./Handlers.js"
import type * as Submissions from "./Submissions.js"
import * as WrongField from "./WrongField.js"

/** A request's parts as they came, still to be decoded. */
export interface Input {
  readonly client: string
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  readonly request: { readonly headers: unknown }
}

/** What a handler gets, its fields as `Handlers.Handler` derives them from the endpoint. */
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

/** Asks without a body. */
export interface Read extends Common {
  readonly _tag: "Read"
  /** As how many requests one counts in the limit of all endpoints. */
  readonly weight: number
  /** The query is a part of what is asked; elsewhere nobody reads it. */
  readonly hasQuery: boolean
  readonly decode: (input: Input) => Decoded<Request>
  readonly handle: Handle<unknown>
  readonly encode: (value: unknown) => Content.Content
}

/** Asks with a body. */
export interface Write extends Common {
  readonly _tag: "Write"
  readonly decode: (input: Input, body: unknown) => Decoded<Request>
  readonly handle: Handle<unknown>
  readonly encode: (value: unknown) => Content.Content
}

/** Is answered with events for as long as somebody listens. */
export interface Listen extends Common {
  readonly _tag: "Listen"
  readonly decode: (input: Input) => Decoded<Request>
  readonly handle: Handle<Answer.EventStream>
}

/** Takes signed transactions. */
export interface Submit extends Common {
  readonly _tag: "Submit"
  readonly handle: Submissions.Handle
}

export type Endpoint = Read | Write | Listen | Submit

type Definition = HttpApiEndpoint.HttpApiEndpoint<string, HttpMethod.HttpMethod>

const decoder = (schema: Schema.Schema.All, whole: string, unknownFields: "error" | "ignore") => {
  const decode = Json.decoder(Schema.make<unknown, unknown, never>(schema.ast), whole, unknownFields)
  return (input: unknown): Decoded<unknown> => Either.mapLeft(decode(input), WrongField.toInvalidRequest)
}

const NOTHING: Decoded<undefined> = Either.right(undefined)

const nothing = () => NOTHING

const optionalDecoder = (schema: Option.Option<Schema.Schema.All>, whole: string) =>
  Option.match(schema, { onNone: () => nothing, onSome: (schema) => decoder(schema, whole, "ignore") })

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

const queryOf = (query: string): Record<string, string> => Object.fromEntries(new URLSearchParams(query))

const requestDecoder = ({ pathSchema, urlParamsSchema, headersSchema }: Definition) => {
  const hasPath = Option.isSome(pathSchema)
  const hasQuery = Option.isSome(urlParamsSchema)
  const hasHeaders = Option.isSome(headersSchema)
  const decodePath = optionalDecoder(pathSchema, "path")
  const decodeQuery = optionalDecoder(urlParamsSchema, "query")
  const decodeHeaders = optionalDecoder(headersSchema, "headers")
  return ({ client, params, query, request }: Input): Decoded<Request> => {
    const path = hasPath ? Either.flatMap(unescaped(params), decodePath) : NOTHING
    if (Either.isLeft(path)) return Either.left(path.left)
    const search = hasQuery ? decodeQuery(queryOf(query)) : NOTHING
    if (Either.isLeft(search)) return Either.left(search.left)
    const head = hasHeaders ? decodeHeaders(request.headers) : NOTHING
    if (Either.isLeft(head)) return Either.left(head.left)
    return Either.right({ client, path: path.right, query: search.right, headers: head.right })
  }
}

const bodyDecoder = (definition: Definition, payload: Schema.Schema.All) => {
  const decodeHead = requestDecoder(definition)
  const decodeBody = decoder(payload, "body", "error")
  return (input: Input, body: unknown): Decoded<Request> =>
    Either.flatMap(decodeHead(input), (head) => Either.map(decodeBody(body), (body) => ({ ...head, body })))
}

const encoder = (ast: AST.AST): ((value: unknown) => Content.Content) => {
  const { kind, contentType } = HttpApiSchema.getEncoding(ast)
  if (kind === "Text") return (value) => Content.text(contentType, String(value))
  const toJson = Json.encoder(Schema.make<unknown, object, never>(ast))
  return (value) => Content.json(toJson(value))
}

const gate = (definition: Definition): Failure.TestnetOnly | undefined =>
  Option.match(Context.getOption(definition.annotations, Access.TestnetOnly), {
    onNone: () => undefined,
    onSome: (instead) =>
      new Failure.TestnetOnly({
        message: `${definition.method} ${definition.path} works on a testnet only: ${instead}`,
      }),
  })

const commonOf = (definition: Definition, success: AST.AST): Common => ({
  method: definition.method,
  path: definition.path,
  limit: Option.getOrUndefined(Context.getOption(definition.annotations, Access.RateLimit)),
  onMainnet: gate(definition),
  status: HttpApiSchema.getStatusSuccessAST(success),
})

const compile = (definition: Definition, handle: Handle<never>): Endpoint => {
  const { payloadSchema, successSchema, annotations } = definition
  const { ast } = successSchema
  const common = commonOf(definition, ast)
  if (Option.isSome(payloadSchema)) {
    const decode = bodyDecoder(definition, payloadSchema.value)
    return { _tag: "Write", ...common, decode, handle, encode: encoder(ast) }
  }
  const decode = requestDecoder(definition)
  if (HttpApiSchema.getEncoding(ast).contentType === eventStream) return { _tag: "Listen", ...common, decode, handle }
  return {
    _tag: "Read",
    ...common,
    weight: Option.getOrElse(Context.getOption(annotations, Access.Weight), () => 1),
    hasQuery: Option.isSome(definition.urlParamsSchema),
    decode,
    handle,
    encode: encoder(ast),
  }
}

/** Every endpoint of the interface with its handler. */
export const all = (handlers: Handlers.All): ReadonlyArray<Endpoint> => {
  // `Handlers.All` is derived from the same endpoints whose schemas decode the requests below, so that each handler gets
  // exactly what its type asks for; no type can say this about endpoints that come one after another out of a list.
  const untyped = handlers as unknown as Readonly<Record<string, Readonly<Record<string, Handle<never>>>>>
  const endpoints: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ group, endpoint }) => {
      const handle = untyped[group.identifier]?.[endpoint.name]
      if (handle === undefined) throw new Error(`${group.identifier}.${endpoint.name} has no handler`)
      endpoints.push(
        endpoint.path === submit.path
          ? { _tag: "Submit", ...commonOf(endpoint, Accepted.ast), handle: handlers.transactions.submit }
          : compile(endpoint, handle),
      )
    },
  })
  return endpoints
}
