/** Which events a reader asks for: of some types, about an account. */
import { Stream } from "effect"
import type { NumberedEvent } from "../../edge/server/EventStreams.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Event, EventType } from "../api/Events.js"

export interface Wanted {
  /** All of them if it is missing. */
  readonly types: ReadonlyArray<EventType> | undefined
  /** Everybody if it is missing. */
  readonly account: Address | undefined
}

/** Transactions that the account sends or receives, and vertices that it makes. */
const concerns = (event: Event, account: Address): boolean => {
  switch (event.type) {
    case "transaction":
      return event.from === account || event.to === account
    case "vertex":
      return event.validator === account
    case "round":
    case "alert":
    case "reset":
      return false
  }
}

/** A reset is for everybody: events may be missing that the reader wants. */
const isWanted = (event: Event, { types, account }: Wanted): boolean =>
  event.type === "reset" ||
  ((types === undefined || types.includes(event.type)) && (account === undefined || concerns(event, account)))

/** Events that nobody filters stay in the pieces that are encoded once for all readers. */
export const filtered = (
  events: Stream.Stream<NumberedEvent<Event>>,
  wanted: Wanted,
): Stream.Stream<NumberedEvent<Event>> =>
  wanted.types === undefined && wanted.account === undefined
    ? events
    : Stream.filter(events, ({ event }) => isWanted(event, wanted))
