/** Who may call an endpoint, how often and in which mode: annotations that the server and the reference read. */
import { Context } from "effect"

/** Requests of one client in a sliding window. */
export interface Limit {
  readonly requests: number
  readonly windowSeconds: number
  /** What a refusal adds. */
  readonly hint?: string
}

/** The endpoint's own limit, in addition to the global one. */
export class RateLimit extends Context.Tag("udg/rpc/RateLimit")<RateLimit, Limit>() {}

/** The limit over all endpoints together. */
export const globalLimit: Limit = { requests: 1_000, windowSeconds: 60 }

/** Process managers ask there whether the node lives. Neither it nor preflights count in all; both share the same limit once more. */
export const livenessPath = "/health"

/** What a call asks for, as its query says it. */
export type Query = Readonly<Record<string, unknown>>

/**
 * How many requests one call counts as: most cost less than a millisecond, and this one that many times as much. Where the
 * caller says how much it wants, that decides.
 */
export class Weight extends Context.Tag("udg/rpc/Weight")<Weight, number | ((query: Query) => number)>() {}

/** Off on a mainnet; the value says what to do there instead. */
export class TestnetOnly extends Context.Tag("udg/rpc/TestnetOnly")<TestnetOnly, string>() {}
