/**
 * A prepared endpoint: schemas compiled to plain functions, annotations read, handler found. Everything that depends
 * only on the definition happens here once, before the first request.
 */
import { type Context, Either, Predicate } from "effect"
import type * as Definition from "../../effect3/http/Definition.js"
import * as Json from "../../protocol/encoding/Json.js"
import * as JsonProblem from "../../protocol/encoding/JsonProblem.js"
import { contentType as eventStream } from "../definition/EventStream.js"
import * as Failure from "../definition/Failure.js"
import * as Rules from "../definition/Rules.js"
import * as Content from "./Content.js"
import type { Version } from "./EncodedAnswers.js"
import type { Handle, Implementation, Request } from "./Group.js"
import type { Memory } from "./Memory.js"
import { type Inline, pageWith, type ResponseHeaders } from "./ResponseHeaders.js"

/** A request's parts before decoding. */
export interface Input {
  readonly client: string
  readonly params: Readonly<Record<string, string>>
  readonly query: string
  readonly request: { readonly headers: unknown }
}

type Decoded<A> = Either.Either<A, Failure.InvalidRequest>

/** `path` is the name in metrics. */
interface Common extends Pick<Definition.Definition, "method" | "path"> {
  readonly limit: Rules.Limit | undefined
  readonly closed: Failure.Failure | undefined
  readonly isGuarded: boolean
  readonly status: number
}

/** A request without a body. */
export interface Read extends Common {
  readonly _tag: "Read"
  /** The number of requests that this one counts as in the global limit. */
  readonly weightOf: (request: Request) => number
  readonly decode: (input: Input) => Decoded<Request>
  readonly handle: Handle
  readonly encode: (value: unknown) => Content.Content
  /** Tells when the answer changes; undefined if it can change at any time. */
  readonly version: Version | undefined
  /** Whether this answer never changes. */
  readonly isFinal: (answer: unknown) => boolean
  readonly restart: Version
  /** Set if answers come from memory that runs ahead of the disk; they leave once it is written. */
  readonly memory: Memory | undefined
}

/** A request with a body. */
export interface Write extends Common {
  readonly _tag: "Write"
  readonly decode: (input: Input, body: unknown) => Decoded<Request>
  readonly handle: Handle
  readonly encode: (value: unknown) => Content.Content
}

/** Answered with events until the client leaves. */
export interface Listen extends Common {
  readonly _tag: "Listen"
  readonly decode: (input: Input) => Decoded<Request>
  readonly handle: Handle
}

/** Takes one item or an array. */
export interface Batch extends Common {
  readonly _tag: "Batch"
  readonly decode: (input: Input) => Decoded<Request>
  readonly handle: Handle
  readonly batch: Rules.Batch
}

export type Endpoint = Read | Write | Listen | Batch

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

/** The parameters with %-escapes resolved. */
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

/** The query's parameters. Duplicates are refused. */
const queryOf = (query: string): Decoded<Readonly<Record<string, string>>> => {
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (parameters.has(name)) return invalidQuery(name, "appears twice in the query")
    parameters.set(name, value)
  }
  return Either.right(Object.fromEntries(parameters))
}

/** Refuses all parameters, for endpoints without any. */
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
    return Either.right({ client, path: path.right, urlParams: search.right, headers: head.right })
  }
}

const bodyDecoder = (definition: Definition.Definition, payload: Definition.AnySchema) => {
  const decodeHead = requestDecoder(definition)
  const decodeBody = decoder(payload, "body", "error")
  return (input: Input, body: unknown): Decoded<Request> =>
    Either.flatMap(decodeHead(input), (head) => Either.map(decodeBody(body), (payload) => ({ ...head, payload })))
}

const encoder = ({ isText, contentType, schema }: Definition.Definition["success"], page?: ResponseHeaders) => {
  if (isText) return (value: unknown) => Content.text(contentType, String(value), page)
  const toJson = Json.encoder(schema)
  return (value: unknown) => Content.json(toJson(value))
}

/** How the server detects changes, by the names that annotations use. */
export type Versions = Readonly<Record<string, Version>>

/** What a server knows about endpoints besides their definitions. */
export interface Options {
  readonly versions: Versions
  /** Set on servers whose memory runs ahead of the disk. */
  readonly memory?: Memory
  /** The failure of a closed endpoint. */
  readonly closed?: (definition: Definition.Definition) => Failure.Failure | undefined
  /** Whether pages of other sites are refused. */
  readonly isGuarded?: (definition: Definition.Definition) => boolean
  /** Inline scripts and styles of pages that endpoints return. */
  readonly inline?: Inline
}

const commonOf = (definition: Definition.Definition, { closed, isGuarded }: Options): Common => ({
  method: definition.method,
  path: definition.path,
  limit: definition.annotation(Rules.RateLimit),
  closed: closed?.(definition),
  isGuarded: isGuarded?.(definition) ?? false,
  status: definition.success.status,
})

const weigher =
  (weight: Context.Tag.Service<Rules.Weight>) =>
  ({ urlParams }: Request): number =>
    typeof weight === "number" ? weight : weight(Predicate.isReadonlyRecord(urlParams) ? urlParams : {})

/** Changes when the server's backend is replaced; final answers are kept until then. */
const restartOf = ({ restart = () => undefined }: Versions): Version => restart

const versionOf = (until: string, versions: Versions): Version => {
  const version = until === "restart" ? restartOf(versions) : versions[until]
  if (version === undefined) throw new Error(`answers are kept until "${until}" changes, but no version of it is given`)
  return version
}

const lifetimeOf = (
  { until, isFinal }: Rules.Lifetime,
  { versions, memory }: Options,
): Pick<Read, "version" | "isFinal" | "restart" | "memory"> => ({
  version: until === undefined ? undefined : versionOf(until, versions),
  isFinal: (answer) => isFinal !== undefined && Predicate.isObject(answer) && isFinal(answer),
  restart: restartOf(versions),
  memory: until !== undefined && memory?.versions.has(until) === true ? memory : undefined,
})

const compile = (definition: Definition.Definition, handle: Handle, options: Options): Endpoint => {
  const { annotation, body, success } = definition
  const common = commonOf(definition, options)
  const batch = annotation(Rules.Batched)
  if (batch !== undefined) return { _tag: "Batch", ...common, decode: requestDecoder(definition), handle, batch }
  if (body !== undefined) {
    return { _tag: "Write", ...common, decode: bodyDecoder(definition, body), handle, encode: encoder(success) }
  }
  const decode = requestDecoder(definition)
  if (success.contentType === eventStream) return { _tag: "Listen", ...common, decode, handle }
  return {
    _tag: "Read",
    ...common,
    weightOf: weigher(annotation(Rules.Weight) ?? 1),
    decode,
    handle,
    encode: encoder(success, options.inline && pageWith(options.inline)),
    ...lifetimeOf(annotation(Rules.Cached) ?? {}, options),
  }
}

/** Every endpoint of the interface with its handler. */
export const all = (
  definitions: ReadonlyArray<Definition.Definition>,
  groups: ReadonlyMap<string, Implementation>,
  options: Options,
): ReadonlyArray<Endpoint> =>
  definitions.map((definition) => {
    const { group, name } = definition
    const handle = groups.get(group)?.get(name)
    if (handle === undefined) throw new Error(`${group}.${name} has no handler`)
    return compile(definition, handle, options)
  })
