/** Ordered events for any number of readers, stored once. The latest are kept for clients that reconnect. */
import { Chunk, Effect, Option, Stream } from "effect"
import type { NumberedEvent } from "../../edge/server/EventStreams.js"
import type { Event } from "../api/Events.js"

/** Events that arrived together, and the link to the next ones. */
interface Link {
  readonly events: Chunk.Chunk<NumberedEvent<Event>>
  readonly last: number
  next: Link | undefined
}

const KEPT = 1_000
/** A reader further behind does not read or cannot keep up. */
const FARTHEST_BEHIND = 50_000

const missed = "events were missed: they are older than the last 1,000, or of another node, gateway or start"

export class Feed {
  #kept: ReadonlyArray<NumberedEvent<Event>> = []
  #tail: Link
  readonly #waiting = new Set<() => void>()

  /** `last`: the number to continue counting from. No other feed should be near it. */
  constructor(last: number) {
    this.#tail = { events: Chunk.empty(), last, next: undefined }
  }

  get last(): number {
    return this.#tail.last
  }

  /** Whether a reader waits for news. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  append(events: ReadonlyArray<Event>): void {
    if (events.length === 0) return
    const first = this.#tail.last + 1
    const numbered = events.map((event, i) => ({ id: first + i, event }))
    this.#kept = [...this.#kept, ...numbered.slice(-KEPT)].slice(-KEPT)
    const link = { events: Chunk.unsafeFromArray(numbered), last: first + events.length - 1, next: undefined }
    this.#tail.next = link
    this.#tail = link
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  /** The events after this one, or a reset if some of them are gone. */
  #behind(id: number): ReadonlyArray<NumberedEvent<Event>> {
    const oldest = this.#kept[0]?.id ?? this.last + 1
    return id >= oldest - 1 && id <= this.last
      ? this.#kept.slice(id - oldest + 1)
      : [{ id: this.last, event: { type: "reset", message: missed } }]
  }

  readonly #news = (link: Link): Effect.Effect<Link> =>
    Effect.async<Link>((resume) => {
      const look = () => {
        if (link.next !== undefined) resume(Effect.succeed(link.next))
        else this.#waiting.add(look)
      }
      look()
      return Effect.sync(() => this.#waiting.delete(look))
    })

  /** The events after this number, then those from this call on. The stream of a reader too far behind ends. */
  after(id: Option.Option<number>): Stream.Stream<NumberedEvent<Event>> {
    const missing = Option.match(id, { onNone: () => [], onSome: (id) => this.#behind(id) })
    const news = Stream.unfoldChunkEffect(this.#tail, (link) =>
      Effect.map(this.#news(link), (next) =>
        this.last - link.last > FARTHEST_BEHIND ? Option.none() : Option.some([next.events, next] as const),
      ),
    )
    return Stream.concat(Stream.fromIterable(missing), news)
  }
}
