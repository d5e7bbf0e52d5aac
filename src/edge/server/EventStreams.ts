/** Server-sent events on the wire: frames, heartbeats, and disconnection of clients that do not read. */
import type { ServerResponse } from "node:http"
import { Cause, type Chunk, Effect, Fiber, Predicate, Stream } from "effect"
import type { Fork } from "../../effect3/fibers/Run.js"
import { type Entry, Places } from "../admission/Places.js"
import { maximumStreams } from "../definition/EventStream.js"

/** An event with its id, which a reconnecting client sends back. */
export interface NumberedEvent<Event = { readonly type: string }> {
  readonly id: number
  readonly event: Event
}

/** Events until the client leaves. */
export type EventStream = Stream.Stream<NumberedEvent>

export const isEventStream = (value: unknown): value is EventStream => Predicate.hasProperty(value, Stream.StreamTypeId)

export interface Options {
  /** Streams for each client. */
  readonly each: number
  /** Called when a bug ends a stream. */
  readonly onDefect: (cause: Cause.Cause<unknown>) => void
  readonly heartbeatMs?: number
  /** How long a client can leave events unread. */
  readonly patienceMs?: number
}

export const HEARTBEAT_MS = 15_000
const PATIENCE_MS = 10_000

/** Events have the same form in memory and in JSON, and a commit brings thousands, so no schema encodes them. */
const frame = ({ id, event }: NumberedEvent): string =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** Events that arrive together are written together and encoded once for all readers. */
const encoded = new WeakMap<Chunk.Chunk<NumberedEvent>, Buffer>()

export const bytesOf = (events: Chunk.Chunk<NumberedEvent>): Buffer => {
  const known = encoded.get(events)
  if (known !== undefined) return known
  let text = ""
  for (const event of events) text += frame(event)
  const bytes = Buffer.from(text)
  encoded.set(events, bytes)
  return bytes
}

/** Whether the reader is still there. Node.js throws on a write after the end. */
const isOpen = (response: ServerResponse): boolean => !response.destroyed && !response.writableEnded

export class EventStreams {
  readonly #places: Places<ServerResponse>
  /** Streams of other sites' pages. */
  readonly #foreign = new WeakSet<ServerResponse>()
  readonly #onDefect: Options["onDefect"]
  readonly #heartbeatMs: number
  readonly #patienceMs: number

  constructor({ each, onDefect, heartbeatMs = HEARTBEAT_MS, patienceMs = PATIENCE_MS }: Options) {
    this.#places = new Places({ total: maximumStreams, each, evict: (response) => response.end() })
    this.#onDefect = onDefect
    this.#heartbeatMs = heartbeatMs
    this.#patienceMs = patienceMs
  }

  isOn(socket: unknown): boolean {
    return this.#places.all.some((response) => response.socket === socket)
  }

  /**
   * Takes a place until the response closes. Pages of other sites only use places that the visitor's own programs do
   * not need: if none is left for a program, the oldest of these pages loses its place.
   */
  enter(client: string, response: ServerResponse, isForeign: boolean): Entry {
    const places = this.#places
    let entry = places.enter(client, response)
    const page = entry === "taken" || isForeign ? undefined : places.of(client).find((each) => this.#foreign.has(each))
    if (page !== undefined) {
      places.leave(client, page)
      page.end()
      entry = places.enter(client, response)
    }
    if (entry === "taken" && isForeign) this.#foreign.add(response)
    if (entry === "taken") response.once("close", () => this.#places.leave(client, response))
    return entry
  }

  /** Writes and waits for room. A reader that makes no room in time is disconnected. */
  readonly #write = (response: ServerResponse, bytes: Buffer): Effect.Effect<void> =>
    Effect.async<void>((resume) => {
      if (!isOpen(response) || response.write(bytes)) {
        resume(Effect.void)
        return undefined
      }
      const onDrain = (): void => {
        clearTimeout(timer)
        resume(Effect.void)
      }
      const timer = setTimeout(() => response.destroy(), this.#patienceMs)
      response.once("drain", onDrain)
      return Effect.sync(() => {
        clearTimeout(timer)
        response.off("drain", onDrain)
      })
    })

  /**
   * Writes events until the stream ends or the reader leaves or stops reading. The head is already written. If the
   * stream fails, the connection is cut, so that the reader does not mistake the failure for the end.
   */
  serve(response: ServerResponse, events: EventStream, runFork: Fork): void {
    const beat = (): void => {
      if (isOpen(response) && !response.writableNeedDrain) response.write(":\n\n")
    }
    beat()
    const heartbeat = setInterval(beat, this.#heartbeatMs)
    const fiber = runFork(
      Stream.runForEachChunk(events, (chunk) => this.#write(response, bytesOf(chunk))).pipe(
        Effect.matchCause({
          onSuccess: () => void response.end(),
          onFailure: (cause) => {
            if (Cause.isInterruptedOnly(cause)) response.end()
            else {
              response.destroy()
              this.#onDefect(cause)
            }
          },
        }),
      ),
    )
    response.once("close", () => {
      clearInterval(heartbeat)
      runFork(Fiber.interrupt(fiber))
    })
  }

  /** Ends every stream, so that connections can close. */
  endAll(): void {
    for (const response of this.#places.all) response.end()
  }
}
