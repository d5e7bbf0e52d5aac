import { it } from "@effect/vitest"
import { Deferred, Effect, Logger, Ref, TestClock } from "effect"
import { describe, expect } from "vitest"
import { exitCodeOf } from "../../src/node/lifecycle/Ending.js"
import * as Supervisor from "../../src/node/lifecycle/Supervisor.js"
import { DiskFull } from "../../src/storage/files/StorageError.js"

const quiet = Logger.remove(Logger.defaultLogger)

describe("the supervisor", () => {
  it.scoped("restarts a part with growing delays, and shows that it does", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.Supervisor
      const starts = yield* Ref.make(0)
      const run = Effect.flatMap(
        Ref.updateAndGet(starts, (n) => n + 1),
        (n) => (n < 4 ? Effect.fail(`failure ${n}`) : Effect.never),
      )
      yield* supervisor.restarted("feed", run)
      yield* TestClock.adjust("0 millis")
      expect(yield* supervisor.components).toEqual([{ name: "feed", status: "restarting", restarts: 1 }])
      yield* TestClock.adjust("999 millis")
      expect(yield* Ref.get(starts)).toBe(1)
      yield* TestClock.adjust("1 millis")
      expect(yield* Ref.get(starts)).toBe(2)
      yield* TestClock.adjust("2 seconds")
      expect(yield* Ref.get(starts)).toBe(3)
      yield* TestClock.adjust("4 seconds")
      expect(yield* Ref.get(starts)).toBe(4)
      expect(yield* supervisor.components).toEqual([{ name: "feed", status: "running", restarts: 3 }])
    }).pipe(Effect.provide(Supervisor.layer), Effect.provide(quiet)),
  )

  it.scoped("ends with the failure of a critical part", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.Supervisor
      yield* supervisor.critical("writer", new DiskFull({ file: "udg.db" }))
      const ending = yield* Effect.flip(supervisor.ended)
      expect(ending._tag).toBe("DiskFull")
      expect(exitCodeOf(ending)).toBe(1)
    }).pipe(Effect.provide(Supervisor.layer), Effect.provide(quiet)),
  )

  it.scoped("ends with a report when a critical part dies of a bug", () =>
    Effect.gen(function* () {
      const supervisor = yield* Supervisor.Supervisor
      yield* supervisor.critical("storage writer", Effect.dieMessage("nobody thought of this"))
      const ending = yield* Effect.flip(supervisor.ended)
      expect(ending._tag).toBe("InternalFault")
      expect(exitCodeOf(ending)).toBe(102)
      expect(ending.message).toMatch(
        /^internal fault in storage writer: .*nobody thought of this; please report this line$/,
      )
    }).pipe(Effect.provide(Supervisor.layer), Effect.provide(quiet)),
  )

  it.scoped("reports the first ending, and stops its parts in the reverse order of their start", () =>
    Effect.gen(function* () {
      const stopped: Array<string> = []
      const part = (name: string) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void stopped.push(name)))
      const started = yield* Deferred.make<void>()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const supervisor = yield* Supervisor.Supervisor
          yield* supervisor.critical("first", part("first"))
          yield* supervisor.restarted("second", part("second"))
          yield* Effect.yieldNow()
          yield* supervisor.end(new DiskFull({ file: "one" }))
          yield* supervisor.end(new DiskFull({ file: "two" }))
          expect(yield* Effect.flip(supervisor.ended)).toMatchObject({ file: "one" })
          yield* Deferred.succeed(started, undefined)
        }),
      )
      expect(stopped).toEqual(["second", "first"])
    }).pipe(Effect.provide(Supervisor.layer), Effect.provide(quiet)),
  )
})
