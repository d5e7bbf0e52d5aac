/** How an endpoint is served: annotations of its definition, which handlers do not know. */
import { Context, type Schema } from "effect"

/** Requests of one client in a sliding window. */
export interface Limit {
  readonly requests: number
  readonly windowSeconds: number
  /** What a refusal adds. */
  readonly hint?: string
}

/** The endpoint's own limit, in addition to the global one. */
export class RateLimit extends Context.Tag("edge/RateLimit")<RateLimit, Limit>() {}

/** What a call asks for, as its query says it. */
export type Query = Readonly<Record<string, unknown>>

/**
 * How many requests one call counts as: most cost less than a millisecond, and this one that many times as much. Where the
 * caller says how much it wants, that decides.
 */
export class Weight extends Context.Tag("edge/Weight")<Weight, number | ((query: Query) => number)>() {}

/** Of a body: bytes, and JSON values (objects, lists, and the values in them). */
export interface Size {
  readonly bytes: number
  readonly values: number
}

/**
 * An endpoint that takes one item, or an array of them that are judged one by one and answered in their places, each with the status
 * that it would have had alone. The array counts as that many requests.
 */
export interface Batch {
  readonly item: Schema.Schema.All
  readonly answer: Schema.Schema.All
  /** Items of an array. */
  readonly most: number
  /** Of an array. */
  readonly size: Size
}

export class Batched extends Context.Tag("edge/Batched")<Batched, Batch>() {}

/** Until when an answer stays the same. The server encodes it once for each path, and calls no handler before then. */
export interface Lifetime {
  /** The name of what must change first; the server is told how to see that. Without it only answers that are final are kept. */
  readonly until?: string
  /** Whether an answer never changes again. */
  readonly isFinal?: (answer: object) => boolean
}

export class Cached extends Context.Tag("edge/Cached")<Cached, Lifetime>() {}
