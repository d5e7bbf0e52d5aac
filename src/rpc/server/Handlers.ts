/**
 * The other side of `rpc/api`: one function for each endpoint, its type derived from the endpoint's definition. A handler
 * for X gets what X's schemas decoded and returns X's answer or fails with one of X's declared failures; anything else
 * does not compile.
 */
import { Context, type Effect } from "effect"
import type * as Definition from "../../effect3/http/Definition.js"
import type { Api } from "../api/Api.js"
import type { EventStream } from "../api/Events.js"
import type * as Failure from "../api/Failure.js"
import type { submit } from "../api/Transactions.js"
import type * as Answer from "./Answer.js"
import type * as Submissions from "./Submissions.js"

export type GroupName = Definition.GroupName<typeof Api>

/** The request has only the parts that the endpoint declares. */
type Part<Name extends string, A> = [A] extends [never] ? unknown : { readonly [N in Name]: A }

type AnswerTo<Success> = [Success] extends [EventStream] ? Answer.EventStream : Success | Answer.Versioned<Success>

/** `client` is the one that limits count. */
type HandlerOf<P> = P extends Definition.Parts
  ? (
      request: { readonly client: string } & Part<"path", P["params"]> &
        Part<"query", P["query"]> &
        Part<"body", P["body"]> &
        Part<"headers", P["headers"]>,
    ) => Effect.Effect<AnswerTo<P["success"]>, P["failure"] | Failure.Anyhow>
  : never

export type Handler<E> = E extends typeof submit ? Submissions.Handle : HandlerOf<Definition.PartsOf<E>>

/** The handlers of one group, by the names of its endpoints. */
export type Of<Name extends GroupName> = {
  readonly [E in keyof Definition.Endpoints<typeof Api, Name>]: Handler<Definition.Endpoints<typeof Api, Name>[E]>
}

export type All = { readonly [Name in GroupName]: Of<Name> }

/** Everything that answers requests; the server asks for it and knows no service behind it. */
export class Handlers extends Context.Tag("udg/rpc/Handlers")<Handlers, All>() {}
