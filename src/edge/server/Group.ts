/**
 * Handlers of a group of endpoints, added one by one as with `HttpApiBuilder`. An endpoint's handler gets what its
 * schemas decoded and returns its answer or one of its declared failures; anything else does not compile.
 */
import type { HttpApi } from "@effect/platform"
import { type Brand, Context, Effect, type Either, Layer, type Scope } from "effect"
import type * as Definition from "../../effect3/http/Definition.js"
import type { EventStream } from "./EventStreams.js"

/** Translates a service error, by its tag, to a client's failure. Errors without an entry are answered as bugs. */
export type Errors = Readonly<Record<string, (error: never) => object | undefined>>

/** Errors whose failures are among these. */
type ErrorsFor<Table, Failure> = {
  [Tag in keyof Table]: Table[Tag] extends (error: infer Error) => infer Made
    ? [Exclude<Made, undefined>] extends [Failure]
      ? Error
      : never
    : never
}[keyof Table]

type One<A> = Exclude<A, ReadonlyArray<unknown>>
type Many<A> = Extract<A, ReadonlyArray<unknown>>

/** Only parts that the endpoint declares. `client` is the one that limits count. */
type Part<Name extends string, A> = [A] extends [never] ? unknown : { readonly [N in Name]: A }
type RequestOf<P extends Definition.Parts> = { readonly client: string } & Part<"path", P["params"]> &
  Part<"urlParams", P["query"]> &
  Part<"headers", P["headers"]>

type AnswerOf<Success> = [Success] extends [string & Brand.Brand<"EventStream">] ? EventStream : Success

type Answering<Request, A, Failure, Table> = (request: Request) => Effect.Effect<A, Failure | ErrorsFor<Table, Failure>>

/**
 * A batch endpoint gets the items of all current requests and returns an `Either` for each, in order. If it fails, it
 * fails for all.
 */
type HandlerOf<P, Failure, Table> = P extends Definition.Parts
  ? [Many<P["body"]>] extends [never]
    ? Answering<RequestOf<P> & Part<"payload", P["body"]>, AnswerOf<P["success"]>, P["failure"] | Failure, Table>
    : Answering<
        { readonly payloads: ReadonlyArray<One<P["body"]>> },
        ReadonlyArray<Either.Either<One<P["success"]>, P["failure"]>>,
        P["failure"] | Failure,
        Table
      >
  : never

/** The handlers of the named group, by endpoint. */
export type HandlersOf<Groups extends Definition.AnyGroup, Name extends string, Failure, Table> = {
  readonly [E in keyof Definition.EndpointsIn<Groups, Name>]: HandlerOf<
    Definition.PartsOf<Definition.EndpointsIn<Groups, Name>[E]>,
    Failure,
    Table
  >
}

/** The same for an interface. */
export type Of<Api, Name extends string, Table = Record<never, never>> =
  Api extends HttpApi.HttpApi<string, infer Groups, infer Failure, infer _R>
    ? HandlersOf<Groups, Name, Failure, Table>
    : never

/** `Left` are the endpoints without a handler so far. */
export interface Handlers<All, Left extends keyof All> {
  /** For the compiler only: a group is complete when nothing is left. */
  readonly left?: Left
  readonly handle: <Name extends Left>(name: Name, handler: All[Name]) => Handlers<All, Exclude<Left, Name>>
}

type Building<All, E, Needed> = Handlers<All, never> | Effect.Effect<Handlers<All, never>, E, Needed>

/** A request as a handler gets it. `HandlerOf` derives its fields. */
export type Request = Readonly<Record<string, unknown>>

export type Handle = (request: Request) => Effect.Effect<unknown, unknown>

/** A group's handlers, untyped, by endpoint. */
export type Implementation = ReadonlyMap<string, Handle>

/** A group of an interface with all of its handlers. */
export interface Group<Id, Name> {
  readonly _: unique symbol
  readonly id: Id
  readonly name: Name
}

const tagOf = <Id extends string, Name extends string>(id: Id, name: Name) =>
  Context.GenericTag<Group<Id, Name>, Implementation>(`edge/${id}/${name}`)

class Collected {
  readonly all = new Map<string, Handle>()

  handle(name: string, handler: Handle): this {
    this.all.set(name, handler)
    return this
  }
}

/** Groups of an interface whose handlers can also fail with service errors. */
export const grouping =
  <Id extends string, Groups extends Definition.AnyGroup, Failure, R, Table extends Errors>(
    api: HttpApi.HttpApi<Id, Groups, Failure, R>,
    _errors: Table,
  ) =>
  <const Name extends Groups["identifier"], E = never, Needed = never>(
    name: Name,
    build: (
      handlers: Handlers<HandlersOf<Groups, Name, Failure, Table>, keyof HandlersOf<Groups, Name, Failure, Table>>,
    ) => Building<HandlersOf<Groups, Name, Failure, Table>, E, Needed>,
  ): Layer.Layer<Group<Id, Name>, E, Exclude<Needed, Scope.Scope>> => {
    const made = Effect.suspend(() => {
      // One for each server, or two nodes in one process would answer for each other.
      const collected = new Collected()
      // Takes what `Of` declares for each endpoint, which no type can express for a map from names to functions.
      const built = build(collected as unknown as Parameters<typeof build>[0])
      return Effect.as(Effect.isEffect(built) ? built : Effect.succeed(built), collected.all)
    })
    return Layer.scoped(tagOf(api.identifier, name), made)
  }

/** What `serve` needs: every group of the interface. */
export type All<Id, Groups extends Definition.AnyGroup> = Groups extends unknown
  ? Group<Id, Groups["identifier"]>
  : never

/** The handlers of all groups, by group. */
export type Implementations = ReadonlyMap<string, Implementation>

export const all = <Id extends string, Groups extends Definition.AnyGroup, Failure, R>(
  api: HttpApi.HttpApi<Id, Groups, Failure, R>,
): Effect.Effect<Implementations, never, All<Id, Groups>> =>
  Effect.map(
    Effect.context<All<Id, Groups>>(),
    (context) =>
      new Map(Object.keys(api.groups).map((name) => [name, Context.unsafeGet(context, tagOf(api.identifier, name))])),
  )

/** All groups with given handlers, such as ones that forward requests. */
export const over = <Id extends string, Groups extends Definition.AnyGroup, Failure, R>(
  api: HttpApi.HttpApi<Id, Groups, Failure, R>,
  implementations: Implementations,
): Context.Context<All<Id, Groups>> =>
  Context.unsafeMake(
    new Map([...implementations].map(([name, implementation]) => [tagOf(api.identifier, name).key, implementation])),
  )
