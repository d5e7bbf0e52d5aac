/** What a handler may return besides the value its endpoint promises. */
import type { Stream } from "effect"
import type { Event } from "./events/Api.js"

/**
 * A value that stays the same as long as its version does: the server makes and encodes it once for each version and
 * path, and asks no handler again before the version is another one. Versions are compared with `Object.is`.
 */
export class Versioned<A> {
  readonly version: () => unknown
  readonly make: () => A

  constructor(version: () => unknown, make: () => A) {
    this.version = version
    this.make = make
  }
}

export const atVersion = <A>(version: () => unknown, make: () => A): Versioned<A> => new Versioned(version, make)

const unchanging = () => undefined

/** A value that will never be another. */
export const forever = <A>(value: A): Versioned<A> => new Versioned(unchanging, () => value)

/** An event with its place in the stream, which a client names when it comes back. */
export interface NumberedEvent {
  readonly id: number
  readonly event: Event
}

/** Events for as long as somebody listens. */
export type EventStream = Stream.Stream<NumberedEvent>
