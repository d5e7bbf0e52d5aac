/** Who may call an endpoint how often and in which mode: annotations of its definition, read by the server and the reference. */
import { Context } from "effect"

/** Requests of one client in a sliding window. */
export interface Limit {
  readonly requests: number
  readonly windowSeconds: number
  /** What a refusal says besides. */
  readonly hint?: string
}

/** The endpoint's own limit, besides the global one. */
export class RateLimit extends Context.Tag("udg/rpc/RateLimit")<RateLimit, Limit>() {}

/** The limit over all endpoints together. */
export const globalLimit: Limit = { requests: 1_000, windowSeconds: 60 }

/** As how many requests one counts: most cost less than a millisecond, and this one that many times as much. */
export class Weight extends Context.Tag("udg/rpc/Weight")<Weight, number>() {}

/** Off on a mainnet; the value is what to do there instead. */
export class TestnetOnly extends Context.Tag("udg/rpc/TestnetOnly")<TestnetOnly, string>() {}
