/**
 * The other side of `rpc/api`: one function for each endpoint, its type derived from the endpoint's definition. A handler
 * for X gets what X's schemas decoded and returns X's answer or fails with one of X's declared failures; anything else
 * does not compile.
 */
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Context, type Effect } from "effect"
import type { Api } from "../api/Api.js"
import type { EventStream } from "../api/Events.js"
import type * as Failure from "../api/Failure.js"
import type { submit } from "../api/Transactions.js"
import type * as Answer from "./Answer.js"
import type * as Submissions from "./Submissions.js"

type Groups = typeof Api extends HttpApi.HttpApi<string, infer G, infer _E, infer _R> ? G : never

export type GroupName = Groups["identifier"]

/** Only what the endpoint declares stands in the request. */
type Part<Name extends string, A> = [A] extends [never] ? unknown : { readonly [N in Name]: A }

type AnswerTo<Success> = [Success] extends [EventStream] ? Answer.EventStream : Success | Answer.Versioned<Success>

/** Whoever asks, as limits count them. */
interface Asker {
  readonly client: string
}

type HandlerOf<E> =
  E extends HttpApiEndpoint.HttpApiEndpoint<
    infer _Name,
    infer _Method,
    infer Path,
    infer Query,
    infer Payload,
    infer Headers,
    infer Success,
    infer Error,
    infer _R,
    infer _RE
  >
    ? (
        request: Asker & Part<"path", Path> & Part<"query", Query> & Part<"body", Payload> & Part<"headers", Headers>,
      ) => Effect.Effect<AnswerTo<Success>, Error | Failure.ShuttingDown>
    : never

export type Handler<E> = E extends typeof submit ? Submissions.Handle : HandlerOf<E>

/** The handlers of one group, by the names of its endpoints. */
export type Of<Name extends GroupName> = {
  readonly [E in HttpApiGroup.HttpApiGroup.EndpointsWithName<
    Groups,
    Name
  > as HttpApiEndpoint.HttpApiEndpoint.Name<E>]: Handler<E>
}

export type All = { readonly [Name in GroupName]: Of<Name> }

/** Everything that answers requests; the server asks for it and knows no service behind it. */
export class Handlers extends Context.Tag("udg/rpc/Handlers")<Handlers, All>() {}
