/**
 * An endpoint made ready: its schemas compiled to plain functions, its annotations read, its handler found. Everything
 * that depends on the definition alone happens here, once, before the first request.
 */
import { HttpApi, type HttpApiEndpoint, HttpApiSchema, type HttpMethod } from "@effect/platform"
import { SchemaAST as AST, Context, type Effect, Either, Option, Schema } from "effect"
import * as Json from "../../protocol/encoding/Json.js"
import * as Access from "../api/Access.js"
import { Api } from "../api/Api.js"
import { contentType as eventStream } from "../api/Events.js"
import * as Failure from "../api/Failure.js"
import * as Content from "./Content.js"
import type * as Handlers from "./Handlers.js"
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

export interface Endpoint {
  readonly method: string
  /** As it is defined, `/balance/:address`: the name under which it is measured. */
  readonly path: string
  readonly limit: Access.Limit | undefined
  /** As how many requests one counts in the limit of all endpoints. */
  readonly weight: number
  /** On a mainnet the endpoint answers this. */
  readonly onMainnet: Failure.TestnetOnly | undefined
  /** How many bodies may come in one array; of such an endpoint the bodies are all there is. */
  readonly batch: number | undefined
  readonly hasBody: boolean
  /** The query is a part of what is asked; elsewhere nobody reads it. */
  readonly hasQuery: boolean
  readonly status: number
  readonly streamsEvents: boolean
  readonly decode: (input: Input) => Decoded<Request>
  readonly decodeBody: (body: unknown) => Decoded<unknown>
  readonly encode: (value: unknown) => Content.Content
  /** The same before it becomes text, where an answer may be one of many. */
  readonly toJson: (value: unknown) => object
  readonly handle: (request: Request) => Effect.Effect<unknown, Failure.Failure>
}

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

/** Of "one or many" the schema of one: the many are judged one by one. */
const oneOf = (ast: AST.AST): AST.AST =>
  AST.isUnion(ast) ? AST.Union.make(ast.types.filter((member) => !isList(member))) : ast

const isList = (ast: AST.AST): boolean => AST.isTupleType(ast) || (AST.isRefinement(ast) && isList(ast.from))

const bodyDecoder = (schema: Option.Option<Schema.Schema.All>) =>
  Option.match(schema, {
    onNone: () => nothing,
    onSome: (schema) => decoder(Schema.make<unknown, unknown, never>(oneOf(schema.ast)), "body", "error"),
  })

const encoders = (ast: AST.AST): Pick<Endpoint, "encode" | "toJson"> => {
  const toJson = Json.encoder(Schema.make<unknown, object, never>(ast))
  const { kind, contentType } = HttpApiSchema.getEncoding(ast)
  const isText = kind === "Text"
  return {
    toJson,
    encode: (value) => (isText ? Content.text(contentType, String(value)) : Content.json(toJson(value))),
  }
}

const gate = (definition: Definition): Failure.TestnetOnly | undefined =>
  Option.match(Context.getOption(definition.annotations, Access.TestnetOnly), {
    onNone: () => undefined,
    onSome: (instead) =>
      new Failure.TestnetOnly({
        message: `${definition.method} ${definition.path} works on a testnet only: ${instead}`,
      }),
  })

const compile = (definition: Definition, handle: Endpoint["handle"]): Endpoint => {
  const { method, path, payloadSchema, successSchema, annotations } = definition
  const batch = Option.getOrUndefined(Context.getOption(annotations, Access.Batch))?.maximum
  const success = batch === undefined ? successSchema.ast : oneOf(successSchema.ast)
  const heads = [definition.pathSchema, definition.urlParamsSchema, definition.headersSchema]
  if (batch !== undefined && heads.some(Option.isSome)) throw new Error(`${path} takes many bodies, and more than them`)
  return {
    method,
    path,
    limit: Option.getOrUndefined(Context.getOption(annotations, Access.RateLimit)),
    weight: Option.getOrElse(Context.getOption(annotations, Access.Weight), () => 1),
    onMainnet: gate(definition),
    batch,
    hasBody: Option.isSome(payloadSchema),
    hasQuery: Option.isSome(definition.urlParamsSchema),
    status: HttpApiSchema.getStatusSuccessAST(success),
    streamsEvents: HttpApiSchema.getEncoding(success).contentType === eventStream,
    decode: requestDecoder(definition),
    decodeBody: bodyDecoder(payloadSchema),
    ...encoders(success),
    handle,
  }
}

/** Every endpoint of the interface with its handler. */
export const all = (handlers: Handlers.All): ReadonlyArray<Endpoint> => {
  // `Handlers.All` is derived from the same endpoints whose schemas decode the requests below, so that each handler gets
  // exactly what its type asks for; no type can say this about endpoints that come one after another out of a list.
  const untyped = handlers as unknown as Readonly<Record<string, Readonly<Record<string, Endpoint["handle"]>>>>
  const endpoints: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ group, endpoint }) => {
      const handle = untyped[group.identifier]?.[endpoint.name]
      if (handle === undefined) throw new Error(`${group.identifier}.${endpoint.name} has no handler`)
      endpoints.push(compile(endpoint, handle))
    },
  })
  return endpoints
}
