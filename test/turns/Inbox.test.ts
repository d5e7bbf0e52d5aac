import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { afterEach, beforeEach, vi } from "vitest"
import { Inbox } from "../../src/turns/Inbox.js"

/** Longer than any test: a wait for its end would hang. */
const FOR_GOOD_MS = 600_000

describe("an inbox", () => {
  beforeEach(() => {
    vi.spyOn(globalThis, "setTimeout")
    vi.spyOn(globalThis, "clearTimeout")
  })
  afterEach(() => vi.restoreAllMocks())

  /** The timers of waits, and those that were cancelled. */
  const timers = () => {
    const { calls, results } = vi.mocked(setTimeout).mock
    const set = results.flatMap(({ value }, i) => (calls[i]?.[1] === FOR_GOOD_MS ? [value] : []))
    const cleared = vi.mocked(clearTimeout).mock.calls.map(([timer]) => timer)
    return { set: set.length, left: set.filter((timer) => !cleared.includes(timer)).length }
  }

  it.live("delivers in order, and no more at once than requested", () =>
    Effect.sync(() => {
      const inbox = new Inbox<number>()
      for (const item of [1, 2, 3]) inbox.push(item)
      expect(inbox.length).toBe(3)
      expect(inbox.take(2)).toEqual([1, 2])
      expect(inbox.take(2)).toEqual([3])
      expect(inbox.isEmpty).toBe(true)
    }),
  )

  it.live("does not wait where something has already arrived", () =>
    Effect.gen(function* () {
      const inbox = new Inbox<number>()
      inbox.push(1)
      yield* inbox.arrival
      yield* inbox.arrivalWithin(FOR_GOOD_MS)
      expect(timers()).toEqual({ set: 1, left: 0 })
    }),
  )

  it.live("ends the wait when something arrives, or when it is woken", () =>
    Effect.gen(function* () {
      const inbox = new Inbox<number>()
      for (const disturb of [() => inbox.push(1), () => inbox.wake()]) {
        inbox.take(1)
        const waiting = yield* Effect.fork(inbox.arrivalWithin(FOR_GOOD_MS))
        yield* Effect.yieldNow()
        disturb()
        yield* Fiber.join(waiting)
      }
      expect(timers()).toEqual({ set: 2, left: 0 })
    }),
  )

  it.live("ends the wait when its time is over, also for a time that no timer accepts", () =>
    Effect.gen(function* () {
      const inbox = new Inbox<number>()
      yield* inbox.arrivalWithin(5)
      const waiting = yield* Effect.fork(inbox.arrivalWithin(Number.POSITIVE_INFINITY))
      yield* Effect.sleep("20 millis")
      expect(waiting.unsafePoll()).toBeNull()
      yield* Fiber.interrupt(waiting)
    }),
  )

  it.live("leaves no timer behind when the waiting reader is interrupted", () =>
    Effect.gen(function* () {
      const inbox = new Inbox<number>()
      const waiting = yield* Effect.fork(inbox.arrivalWithin(FOR_GOOD_MS))
      yield* Effect.yieldNow()
      expect(timers()).toEqual({ set: 1, left: 1 })
      yield* Fiber.interrupt(waiting)
      expect(timers()).toEqual({ set: 1, left: 0 })
      inbox.push(1)
      expect(inbox.take(1)).toEqual([1])
    }),
  )

  it.live("delivers everything in order, however much arrives at once", () =>
    Effect.gen(function* () {
      const inbox = new Inbox<number>()
      const handed: Array<number> = []
      const reader = yield* Effect.fork(inbox.handOn((item) => handed.push(item)))
      const all = Array.from({ length: 1_000 }, (_, i) => i)
      for (const item of all.slice(0, 500)) inbox.push(item)
      yield* Effect.sleep("5 millis")
      for (const item of all.slice(500)) inbox.push(item)
      yield* Effect.sleep("5 millis")
      expect(handed).toEqual(all)
      yield* Fiber.interrupt(reader)
    }),
  )

  it.live("loses only unreadable items, when one reader ends there and another continues", () =>
    Effect.gen(function* () {
      const inbox = new Inbox<number>()
      const handed: Array<number> = []
      const take = (item: number): void => {
        if (item === 2) throw new Error("cannot be taken")
        handed.push(item)
      }
      for (const item of [1, 2, 3, 4]) inbox.push(item)
      expect((yield* Effect.exit(inbox.handOn(take)))._tag).toBe("Failure")
      const next = yield* Effect.fork(inbox.handOn(take))
      yield* Effect.sleep("5 millis")
      expect(handed).toEqual([1, 3, 4])
      yield* Fiber.interrupt(next)
    }),
  )
})
