/** Who may call an endpoint, how often and in which mode: annotations that the server and the reference read. */
import { Context } from "effect"

/** Requests of one client in a sliding window. */
export interface Limit {
  readonly requests: number
  readonly windowSeconds: number
  /** Only requests that were granted count: the limit is about what the endpoint gives away. */
  readonly onlyGranted?: boolean
  /** On a network of one person, nobody at its machine is limited. */
  readonly notForTheOwner?: boolean
  /** What a refusal adds. */
  readonly hint?: string
}

/** The endpoint's own limit, in addition to the global one. */
export class RateLimit extends Context.Tag("udg/rpc/RateLimit")<RateLimit, Limit>() {}

/** The limit over all endpoints together. */
export const globalLimit: Limit = { requests: 1_000, windowSeconds: 60 }

/** Monitoring asks there, and must not fail because somebody used up the limit; these paths have the same limit once more. */
export const healthPaths: ReadonlyArray<string> = ["/health", "/health/detailed"]

/** What a call asks for, as its query says it. */
export type Query = Readonly<Record<string, unknown>>

/**
 * How many requests one call counts as: most cost less than a millisecond, and this one that many times as much. Where the
 * caller says how much it wants, that decides.
 */
export class Weight extends Context.Tag("udg/rpc/Weight")<Weight, number | ((query: Query) => number)>() {}

/** Off on a mainnet; the value says what to do there instead. */
export class TestnetOnly extends Context.Tag("udg/rpc/TestnetOnly")<TestnetOnly, string>() {}
