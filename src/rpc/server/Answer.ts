/** What a handler may return instead of the plain value. */
import { Effect, type Stream } from "effect"
import type { Event } from "../api/Events.js"

/**
 * A value that stays the same as long as its version does: the server makes and encodes it once for each version and
 * path, and calls no handler before the version changes. Versions are compared with `Object.is`.
 */
export class Versioned<A> {
  readonly version: () => unknown
  readonly make: () => A
  /** The version it is of. */
  readonly at: unknown

  constructor(version: () => unknown, make: () => A, at: unknown) {
    this.version = version
    this.make = make
    this.at = at
  }
}

export const atVersion = <A>(version: () => unknown, make: () => A): Versioned<A> =>
  new Versioned(version, make, version())

/** The same as the result of a handler. */
export const current = <A>(version: () => unknown, make: () => A): Effect.Effect<Versioned<A>> =>
  Effect.succeed(atVersion(version, make))

/** For a value that took long to find: `at` is the version when the search began. */
export const since = <A>(at: unknown, version: () => unknown, value: A): Versioned<A> =>
  new Versioned(version, () => value, at)

const unchanging = () => undefined

/** A value that never changes. */
export const forever = <A>(value: A): Versioned<A> => atVersion(unchanging, () => value)

/** An event with its place in the stream, which a client names when it reconnects. */
export interface NumberedEvent {
  readonly id: number
  readonly event: Event
}

/** Events, until the client leaves. */
export type EventStream = Stream.Stream<NumberedEvent>
