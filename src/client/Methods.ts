/**
 * The types of the client's methods, derived from the definition of the interface: plain values go in, branded ones
 * come out. `wire/Interface.ts` spells out the same types for methods that return promises, without Effect.
 */
import type { Effect } from "effect"
import type * as Definition from "../effect3/http/Definition.js"
import type { Api } from "../rpc/api/Api.js"
import type { Plain } from "./Plain.js"
import type { InvalidInput, UnexpectedAnswer, Unreachable } from "./wire/Failures.js"
import type { Failure } from "./wire/Interface.js"

/** A part of the request; optional if all of its fields are. */
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

/** How a method answers: with a promise, or with an Effect and its failures. */
export interface Ways<A> {
  readonly promise: Promise<A>
  readonly effect: Effect.Effect<A, Trouble>
}

/** All failures of a method: the node's refusals, distinguished by `_tag`, and the client's own errors. */
export type Trouble = Failure | InvalidInput | UnexpectedAnswer | Unreachable

type Method<P, Way extends keyof Ways<unknown>> = P extends Definition.Parts
  ? <const Sent extends Plain<P["body"]>>(
      ...request: Arguments<
        Part<"path", Plain<P["params"]>> & Part<"urlParams", Plain<P["query"]>> & Part<"payload", Sent>
      >
    ) => Ways<AnswerTo<Sent, P["success"]>>[Way]
  : never

type MethodsOf<Name extends Definition.GroupName<typeof Api>, Way extends keyof Ways<unknown>> = {
  readonly [E in keyof Definition.Endpoints<typeof Api, Name>]: Method<
    Definition.PartsOf<Definition.Endpoints<typeof Api, Name>[E]>,
    Way
  >
}

/** A method for each endpoint, by its group. `Events.ts` reads the stream of events. */
export type Methods<Way extends keyof Ways<unknown> = "promise"> = {
  readonly [Name in Exclude<Definition.GroupName<typeof Api>, "events">]: MethodsOf<Name, Way>
}
