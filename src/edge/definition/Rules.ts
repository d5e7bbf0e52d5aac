/** How the server treats an endpoint: annotations of its definition that handlers do not see. */
import { Context, type Schema } from "effect"

/** Requests of one client in a sliding window. */
export interface Limit {
  readonly requests: number
  readonly windowSeconds: number
  /** Added to the refusal. */
  readonly hint?: string
}

/** An endpoint's own limit, in addition to the global one. */
export class RateLimit extends Context.Tag("edge/RateLimit")<RateLimit, Limit>() {}

/** The query's parameters. */
export type Query = Readonly<Record<string, unknown>>

/**
 * How many requests a call counts as. Most calls cost less than a millisecond; this one costs that many times as much.
 * A function derives the weight from the query.
 */
export class Weight extends Context.Tag("edge/Weight")<Weight, number | ((query: Query) => number)>() {}

/** Limits of a body: bytes and JSON values (objects, lists and the values in them). */
export interface Size {
  readonly bytes: number
  readonly values: number
}

/**
 * An endpoint that takes one item or an array. Items are judged one by one and answered in their places, each with the
 * status that it would have had alone. An array counts as that many requests.
 */
export interface Batch {
  readonly item: Schema.Schema.All
  readonly answer: Schema.Schema.All
  /** Items of an array. */
  readonly most: number
  /** Limits of an array. */
  readonly size: Size
}

export class Batched extends Context.Tag("edge/Batched")<Batched, Batch>() {}

/**
 * How long a response stays the same. The server encodes it once for each path and does not call the handler before it
 * changes.
 */
export interface Lifetime {
  /**
   * The name of the version that must change first; the server is given how to read it. Without one, only final answers
   * are kept.
   */
  readonly until?: string
  /** Whether an answer never changes again. */
  readonly isFinal?: (answer: object) => boolean
}

export class Cached extends Context.Tag("edge/Cached")<Cached, Lifetime>() {}
