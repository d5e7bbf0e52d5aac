/**
 * The types of the client's methods, derived from the definition of the interface: plain values go in, branded ones come out. The
 * methods that answer with promises have the same types written out in `wire/Interface.ts`, which needs nothing of Effect.
 */
import type { Effect } from "effect"
import type * as Definition from "../effect3/http/Definition.js"
import type { Api } from "../rpc/api/Api.js"
import type { Plain } from "./Plain.js"
import type { InvalidInput, UnexpectedAnswer, Unreachable } from "./wire/Failures.js"
import type { Failure } from "./wire/Interface.js"

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

/** How a method answers: as a promise, or as an Effect with its failures. */
export interface Ways<A> {
  readonly promise: Promise<A>
  readonly effect: Effect.Effect<A, Trouble>
}

/** Everything with which a method may fail: what the node answers, by its `_tag`, and what the client finds. */
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

/** A method for each endpoint, by its group. The stream of events is read otherwise. */
export type Methods<Way extends keyof Ways<unknown> = "promise"> = {
  readonly [Name in Exclude<Definition.GroupName<typeof Api>, "events">]: MethodsOf<Name, Way>
}
