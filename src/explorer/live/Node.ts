/** The node that served this page, as a typed client. */

import { connect, type PromiseClient, RequestRefused, UnexpectedAnswer } from "../../client/Client.js"
import * as PathSegment from "./PathSegment.js"

export const node: PromiseClient = connect(location.origin)

/** The answer of a method of a group. */
export type Answer<
  Group extends Exclude<keyof PromiseClient, "events">,
  Name extends keyof PromiseClient[Group],
> = PromiseClient[Group][Name] extends (...request: never) => Promise<infer A> ? A : never

/** Why loading failed, as a sentence. */
export const reasonOf = (error: unknown): string =>
  error instanceof RequestRefused || error instanceof UnexpectedAnswer || error instanceof PathSegment.Malformed
    ? error.message
    : "the node does not answer"

/** Whether the node answered that the thing does not exist. */
export const isMissing = (error: unknown): boolean => error instanceof RequestRefused && /NotFound$/.test(error.code)

/** Whether the node gave an answer that this page's interface does not have. */
export const isOfAnotherInterface = (error: unknown): boolean =>
  error instanceof UnexpectedAnswer && error.status === 200

/** Failures that can pass. Any other refusal would be the same the next time. */
const passing: ReadonlySet<string> = new Set([
  "RateLimited",
  "RequestTimeout",
  "InternalError",
  "MempoolFull",
  "NotReady",
  "Overloaded",
  "Unavailable",
  "ShuttingDown",
])

/** Whether a retry can help. */
export const mayPass = (error: unknown): boolean => !(error instanceof RequestRefused) || passing.has(error.code)

/** Whether the request was malformed. */
export const isMalformed = (error: unknown): boolean =>
  error instanceof PathSegment.Malformed || (error instanceof RequestRefused && error.code === "InvalidRequest")
