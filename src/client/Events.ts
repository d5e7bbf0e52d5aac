/** Reads the node's stream of server-sent events. */

import * as Abortable from "./wire/Abortable.js"
import * as Calls from "./wire/Calls.js"
import * as Exchange from "./wire/Exchange.js"
import { RequestRefused, UnexpectedAnswer, Unreachable } from "./wire/Failures.js"
import * as Forms from "./wire/Forms.js"
import * as Frames from "./wire/Frames.js"
import type { Event } from "./wire/Interface.js"
import type { Signal } from "./wire/Signal.js"

/** An event with its id, after which the stream can be resumed. */
export interface NumberedEvent {
  readonly id: string
  readonly event: Event
}

/** A filter for events; all events by default. */
export interface Wanted {
  /** The node always sends `reset` events as well. */
  readonly types?: ReadonlyArray<Exclude<Event["type"], "reset">>
  /** Only events about this account (sender, recipient or vertex maker): hex, bech32m or `@name`. */
  readonly account?: string
}

const pathOf = ({ types, account }: Wanted): string => {
  const query = new URLSearchParams()
  if (types !== undefined) query.set("type", types.join(","))
  if (account !== undefined) query.set("account", account)
  return query.size === 0 ? "/events" : `/events?${query}`
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 15_000

const TYPES = new Set(
  (Forms.event.kind === "union" ? Forms.event.of : []).flatMap((form) =>
    form.kind === "record" && form.fields["type"]?.kind === "literal" ? form.fields["type"].values : [],
  ),
)

const OK = 200

const json = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch {
    throw new UnexpectedAnswer(OK, "an event is not JSON")
  }
}

/** Of a type that only later nodes know. */
const isUnknown = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  "type" in value &&
  typeof value.type === "string" &&
  !TYPES.has(value.type)

/** The event of a `data:` line; undefined for a type that only later nodes know. */
export const read = (data: string): Event | undefined => {
  const value = json(data)
  // The form comes from the schema that the type is derived from.
  return isUnknown(value) ? undefined : (Calls.output(Forms.event, value, OK) as Event)
}

/** A frame between two empty lines; undefined for a heartbeat. */
const readFrame = (frame: string): NumberedEvent | undefined => {
  const fieldOf = (name: string): string | undefined =>
    frame
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const data = fieldOf("data")
  const event = data === undefined ? undefined : read(data)
  return event === undefined ? undefined : { id: fieldOf("id") ?? "", event }
}

export interface Source {
  readonly url: string
  readonly options: Exchange.Options
}

async function* attempt(
  { url, options }: Source,
  after: string | undefined,
  wanted: Wanted,
  signal: Signal,
  onOpen: () => void = () => {},
) {
  const headers = after === undefined ? {} : { "last-event-id": after }
  const request = { method: "GET", url: `${url}${pathOf(wanted)}` }
  for await (const frame of Frames.read(Exchange.stream(request, headers, options, signal, Calls.refused, onOpen))) {
    const event = readFrame(frame)
    if (event !== undefined) yield event
  }
}

export const once = (source: Source, after?: string, wanted: Wanted = {}): AsyncIterable<NumberedEvent> =>
  Abortable.iterable((signal) => attempt(source, after, wanted, signal))

/** A permanent refusal; other failures may be temporary. */
const isFinal = (error: unknown): boolean =>
  error instanceof RequestRefused && (error.code === "InvalidRequest" || error.code === "NameNotFound")

const mayPass = (error: unknown): boolean =>
  error instanceof Unreachable ||
  error instanceof UnexpectedAnswer ||
  (error instanceof RequestRefused && !isFinal(error))

/**
 * Reopens the stream whenever it ends, after the last event received: at once if any event arrived, otherwise after a
 * wait that doubles. A `reset` event reports missed events that the node no longer has.
 */
async function* attempts(source: Source, after: string | undefined, wanted: Wanted, signal: Signal) {
  let last = after
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      for await (const event of attempt(source, last, wanted, signal)) {
        last = event.id
        waitMs = FIRST_WAIT_MS
        yield event
      }
    } catch (error) {
      if (!mayPass(error)) throw error
    }
    await Exchange.sleep(waitMs, signal)
  }
}

export const follow = (source: Source, after?: string, wanted: Wanted = {}): AsyncIterable<NumberedEvent> =>
  Abortable.iterable((signal) => attempts(source, after, wanted, signal))

/** Receives the start, the events and the end of a stream. */
export interface Listener {
  readonly open: () => void
  readonly ring: (event: Event) => void
  readonly close: () => void
}

/**
 * Reports every wanted event and the start of each stream, until the signal aborts. If the node offers no stream, the
 * listener stays closed, and its users poll more often.
 */
export const listen = (source: Source, wanted: Wanted, listener: Listener, signal: Signal): void => {
  const hear = async (): Promise<void> => {
    for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        for await (const { event } of attempt(source, undefined, wanted, signal, () => listener.open()))
          listener.ring(event)
      } catch (error) {
        if (!mayPass(error)) throw error
      }
      listener.close()
      await Exchange.sleep(waitMs, signal)
    }
  }
  // A failure closes the listener. After an abort, waits on the listener reject with the signal's own reason.
  hear().catch(() => listener.close())
}
