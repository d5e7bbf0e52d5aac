import { it } from "@effect/vitest"
import { type Chunk, Deferred, Effect, Fiber, Option, Stream } from "effect"
import { describe, expect } from "vitest"
import type { Event } from "../../../src/rpc/api/Events.js"
import { Feed } from "../../../src/rpc/handlers/EventFeed.js"

const alert = (message: string): Event => ({ type: "alert", severity: "info", message })
const alerts = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i): Event => alert(String(from + i)))

const said = (events: Chunk.Chunk<{ readonly id: number; readonly event: Event }>) =>
  [...events].map(({ id, event }) => `${id} ${event.type === "alert" ? event.message : event.type}`)

/** Reads this many events in the background, starting before anything else happens. */
const reading = (feed: Feed, after: number | undefined, count: number) => {
  const events = feed.after(Option.fromNullable(after))
  return Effect.fork(Effect.map(Stream.runCollect(Stream.take(events, count)), said))
}

describe("an event feed", () => {
  it.effect("sends every reader the events from now on, in order", () =>
    Effect.gen(function* () {
      const feed = new Feed(10)
      feed.append([alert("before")])
      const readers = yield* Effect.all([reading(feed, undefined, 3), reading(feed, undefined, 3)])
      feed.append([alert("a"), alert("b")])
      feed.append([])
      yield* Effect.yieldNow()
      feed.append([alert("c")])
      for (const reader of readers) expect(yield* Fiber.join(reader)).toEqual(["12 a", "13 b", "14 c"])
    }),
  )

  it.effect("knows whether a reader is waiting", () =>
    Effect.gen(function* () {
      const feed = new Feed(0)
      expect(feed.isAwaited).toBe(false)
      const reader = yield* reading(feed, undefined, 2)
      yield* Effect.repeat(Effect.yieldNow(), { until: () => feed.isAwaited })
      feed.append(alerts(1, 2))
      yield* Fiber.join(reader)
      expect(feed.isAwaited).toBe(false)
    }),
  )

  it.effect("resumes behind the last event that a reader has seen", () =>
    Effect.gen(function* () {
      const feed = new Feed(0)
      feed.append(alerts(1, 1_500))
      const reader = yield* reading(feed, 1_497, 4)
      feed.append([alert("new")])
      expect(yield* Fiber.join(reader)).toEqual(["1498 1498", "1499 1499", "1500 1500", "1501 new"])
      const all = yield* Fiber.join(yield* reading(feed, 501, 1_000))
      expect([all[0], all.at(-1)]).toEqual(["502 502", "1501 new"])
      const newest = yield* reading(feed, 1_501, 1)
      feed.append([alert("newest")])
      expect(yield* Fiber.join(newest)).toEqual(["1502 newest"])
    }),
  )

  it.effect("reports missed events when they are older than the last thousand or from another start", () =>
    Effect.gen(function* () {
      const feed = new Feed(0)
      feed.append(alerts(1, 1_500))
      for (const after of [0, 1, 499, 1_501, 9_999]) {
        expect(yield* Fiber.join(yield* reading(feed, after, 1))).toEqual(["1500 reset"])
      }
      expect(yield* Fiber.join(yield* reading(feed, 500, 1))).toEqual(["501 501"])
      const empty = new Feed(7)
      expect(yield* Fiber.join(yield* reading(empty, 3, 1))).toEqual(["7 reset"])
    }),
  )

  it.effect("ends for a reader that is too far behind and for no other", () =>
    Effect.gen(function* () {
      const feed = new Feed(0)
      const gate = yield* Deferred.make<void>()
      const slow = yield* Effect.fork(
        Stream.runForEachChunk(feed.after(Option.none()), () => Deferred.await(gate)).pipe(Effect.as("ended")),
      )
      for (let i = 0; i < 60; i++) feed.append(alerts(1, 1_000))
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(slow)).toBe("ended")
      const quick = yield* reading(feed, undefined, 1)
      feed.append([alert("new")])
      expect(yield* Fiber.join(quick)).toEqual(["60001 new"])
    }),
  )
})
