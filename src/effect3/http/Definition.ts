/**
 * Takes an HTTP interface's definition apart: its endpoints as plain values, and the types of what each takes and
 * answers. Effect's server and documents read definitions in the same way, through names that it can change.
 */
import {
  HttpApi,
  type HttpApiEndpoint,
  type HttpApiGroup,
  HttpApiSchema,
  type HttpMethod,
  type HttpRouter,
} from "@effect/platform"
import { SchemaAST as AST, Context, Option, Schema } from "effect"

/** A schema out of a list, whose type does not say what it describes. */
export type AnySchema = Schema.Schema<unknown, unknown>

export interface Definition {
  readonly group: string
  readonly name: string
  readonly method: HttpMethod.HttpMethod
  /** With parameters, as in `/balance/:address`. */
  readonly path: HttpRouter.PathInput
  readonly params: AnySchema | undefined
  readonly query: AnySchema | undefined
  readonly headers: AnySchema | undefined
  readonly body: AnySchema | undefined
  readonly success: {
    readonly status: number
    readonly contentType: string
    /** Sent as is, not as JSON. */
    readonly isText: boolean
    readonly schema: Schema.Schema<unknown, object>
  }
  /** The annotation of the endpoint, its group or the interface. */
  readonly annotation: <Id, A>(tag: Context.Tag<Id, A>) => A | undefined
}

const schemaOf = (schema: Option.Option<Schema.Schema.All>): AnySchema | undefined =>
  Option.getOrUndefined(Option.map(schema, ({ ast }) => Schema.make(ast)))

const successOf = (ast: AST.AST): Definition["success"] => {
  const { kind, contentType } = HttpApiSchema.getEncoding(ast)
  return {
    status: HttpApiSchema.getStatusSuccessAST(ast),
    contentType,
    isText: kind === "Text",
    schema: Schema.make(ast),
  }
}

/** Every endpoint, in the order of definition. */
export const all = <Name extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Name, Groups, E, R>,
): ReadonlyArray<Definition> => {
  const definitions: Array<Definition> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ group, endpoint, mergedAnnotations }) => {
      definitions.push({
        group: group.identifier,
        name: endpoint.name,
        method: endpoint.method,
        path: endpoint.path,
        params: schemaOf(endpoint.pathSchema),
        query: schemaOf(endpoint.urlParamsSchema),
        headers: schemaOf(endpoint.headersSchema),
        body: schemaOf(endpoint.payloadSchema),
        success: successOf(endpoint.successSchema.ast),
        annotation: (tag) => Option.getOrUndefined(Context.getOption(mergedAnnotations, tag)),
      })
    },
  })
  return definitions
}

/**
 * An empty interface. `HttpApi.make` puts its own decoding error into every endpoint; a server with its own failure for
 * invalid requests must have that error neither in types nor in documents.
 */
export const empty = <const Name extends string>(name: Name): HttpApi.HttpApi<Name> =>
  Object.assign(HttpApi.make(name), { errorSchema: Schema.Never }) as unknown as HttpApi.HttpApi<Name>

const membersOf = (ast: AST.AST): ReadonlyArray<AST.AST> => (AST.isUnion(ast) ? ast.types.flatMap(membersOf) : [ast])

/** Members of a union of failures: name in documents, status, when it is returned, and what the caller can do. */
export const failures = (union: Schema.Schema.All) =>
  membersOf(union.ast).map((ast) => ({
    identifier: Option.getOrThrow(AST.getJSONIdentifier(ast)),
    status: HttpApiSchema.getStatusErrorAST(ast),
    when: Option.getOrThrow(AST.getDescriptionAnnotation(ast)),
    remedy: Option.getOrThrow(AST.getAnnotation<string>(Remedy)(ast)),
    schema: Schema.make<unknown, object, never>(ast),
  }))

/** Annotates a failure class with the seconds until a retry makes sense. */
export const RetryAfter = Symbol.for("udg/effect3/RetryAfter")

/** Annotates a failure class with what the caller can do. */
export const Remedy = Symbol.for("udg/effect3/Remedy")

/** The failure class with its status, if this is one. */
export const failureClass = (made: unknown) => {
  if (!Schema.isSchema(made)) return undefined
  const { ast } = made
  const status = AST.getAnnotation<number>(HttpApiSchema.AnnotationStatus)(ast)
  if (Option.isNone(status)) return undefined
  const retryAfter = Option.getOrUndefined(AST.getAnnotation<number>(RetryAfter)(ast))
  return { status: status.value, retryAfter, schema: Schema.make<unknown, object, never>(ast) }
}

/** A schema out of an annotation, whose type does not say what it describes. */
export const untyped = ({ ast }: Schema.Schema.All): Schema.Schema<unknown, object> => Schema.make(ast)

export type AnyGroup = HttpApiGroup.HttpApiGroup.Any

/** What `HttpApiBuilder.api` requires: handlers for every group of the interface. */
export type ServicesOf<Id extends string, Groups extends AnyGroup> = HttpApiGroup.HttpApiGroup.ToService<Id, Groups>

type GroupsOf<Api> = Api extends HttpApi.HttpApi<string, infer Groups, infer _E, infer _R> ? Groups : never

export type GroupName<Api> = GroupsOf<Api>["identifier"]

/** The named group's endpoints, by name. */
export type EndpointsIn<Groups extends AnyGroup, Name extends string> = {
  readonly [E in HttpApiGroup.HttpApiGroup.EndpointsWithName<
    Groups,
    Name
  > as HttpApiEndpoint.HttpApiEndpoint.Name<E>]: E
}

export type Endpoints<Api, Name extends GroupName<Api>> = EndpointsIn<GroupsOf<Api>, Name>

/** What an endpoint takes and answers; `never` for parts that it does not have. */
export interface Parts<Params = unknown, Query = unknown, Body = unknown, Headers = unknown, A = unknown, E = unknown> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly headers: Headers
  readonly success: A
  readonly failure: E
}

export type PartsOf<E> =
  E extends HttpApiEndpoint.HttpApiEndpoint<
    infer _Name,
    infer _Method,
    infer Params,
    infer Query,
    infer Body,
    infer Headers,
    infer Success,
    infer Failure,
    infer _R,
    infer _RE
  >
    ? Parts<Params, Query, Body, Headers, Success, Failure>
    : never
