/** A reader's filter of events by type and account. */
import { Stream } from "effect"
import type { NumberedEvent } from "../../edge/server/EventStreams.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Event, EventType } from "../api/Events.js"

export interface Wanted {
  /** All types if missing. */
  readonly types: ReadonlyArray<EventType> | undefined
  /** All accounts if missing. */
  readonly account: Address | undefined
}

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

/** Resets always pass: events the reader wants may be missing. */
const isWanted = (event: Event, { types, account }: Wanted): boolean =>
  event.type === "reset" ||
  ((types === undefined || types.includes(event.type)) && (account === undefined || concerns(event, account)))

/** Unfiltered events stay in the pieces encoded once for all readers. */
export const filtered = (
  events: Stream.Stream<NumberedEvent<Event>>,
  wanted: Wanted,
): Stream.Stream<NumberedEvent<Event>> =>
  wanted.types === undefined && wanted.account === undefined
    ? events
    : Stream.filter(events, ({ event }) => isWanted(event, wanted))
