/** Server-sent events on the wire: frames, heartbeats, and an end for who does not keep up. */
import type { ServerResponse } from "node:http"
import { Effect, Fiber, Schema, Stream } from "effect"
import type * as Answer from "./Answer.js"
import { Event, maximumStreams } from "./events/Api.js"

const HEARTBEAT_MS = 15_000
/** What may wait in memory for one reader. */
const BACKLOG_BYTES = 262_144

const encode = Schema.encodeSync(Event)

export const frame = ({ id, event }: Answer.NumberedEvent): string =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(encode(event))}\n\n`

export class EventStreams {
  readonly #open = new Set<ServerResponse>()
  readonly #maximum: number
  readonly #heartbeatMs: number

  constructor(maximum = maximumStreams, heartbeatMs = HEARTBEAT_MS) {
    this.#maximum = maximum
    this.#heartbeatMs = heartbeatMs
  }

  get isFull(): boolean {
    return this.#open.size >= this.#maximum
  }

  get size(): number {
    return this.#open.size
  }

  isOn(socket: unknown): boolean {
    return [...this.#open].some((response) => response.socket === socket)
  }

  /** Writes events behind the head that is already written, until the stream ends or the reader goes or falls behind. */
  serve(
    response: ServerResponse,
    events: Answer.EventStream,
    runFork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>,
  ): void {
    this.#open.add(response)
    /** Whether the reader is still there. Node throws at who writes to an answer that has ended. */
    const write = (text: string): boolean => {
      if (response.destroyed || response.writableEnded) return false
      response.write(text)
      if (response.writableLength > BACKLOG_BYTES) response.destroy()
      return !response.destroyed
    }
    write(":\n\n")
    const heartbeat = setInterval(() => write(":\n\n"), this.#heartbeatMs)
    const fiber = runFork(
      Stream.runForEachWhile(events, (event) => Effect.sync(() => write(frame(event)))).pipe(
        Effect.ensuring(Effect.sync(() => response.end())),
      ),
    )
    response.once("close", () => {
      clearInterval(heartbeat)
      this.#open.delete(response)
      runFork(Fiber.interrupt(fiber))
    })
  }

  /** Ends every stream, so that its connection can close. */
  endAll(): void {
    for (const response of this.#open) response.end()
  }
}
