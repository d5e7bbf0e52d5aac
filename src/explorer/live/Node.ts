/** The node that served this page, through the typed client. */

import { connect, type PromiseClient, RequestRefused, UnexpectedAnswer } from "../../client/Client.js"
import * as PathSegment from "./PathSegment.js"

export const node: PromiseClient = connect(location.origin)

/** The answer of a method of a group. */
export type Answer<
  Group extends Exclude<keyof PromiseClient, "events">,
  Name extends keyof PromiseClient[Group],
> = PromiseClient[Group][Name] extends (...request: never) => Promise<infer A> ? A : never

/** Why something could not be loaded, in a sentence. */
export const reasonOf = (error: unknown): string =>
  error instanceof RequestRefused || error instanceof UnexpectedAnswer || error instanceof PathSegment.Malformed
    ? error.message
    : "the node does not answer"

/** The node answered that there is no such thing. */
export const isMissing = (error: unknown): boolean => error instanceof RequestRefused && /NotFound$/.test(error.code)

/** What another moment may change. Any other refusal is the same the next time. */
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

/** Whether asking again may help. */
export const mayPass = (error: unknown): boolean => !(error instanceof RequestRefused) || passing.has(error.code)

/** The request was malformed. */
export const isMalformed = (error: unknown): boolean =>
  error instanceof PathSegment.Malformed || (error instanceof RequestRefused && error.code === "InvalidRequest")
