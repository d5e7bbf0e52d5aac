/** Requests that arrive during a pending query share the next query. */
import { Deferred, Effect, Exit, Fiber } from "effect"
import { expect, it } from "vitest"
import * as Coalescing from "../../src/gateway/Coalescing.js"

/** Lets every fiber run as far as it can. */
const settled = Effect.yieldNow().pipe(Effect.repeatN(20))

const run = <A>(program: Effect.Effect<A, unknown, import("effect").Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(program))

it("answers requests during a pending question with one new question, and none with an older answer", () =>
  run(
    Effect.gen(function* () {
      const asked: Array<ReadonlyArray<string>> = []
      const doors = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const ask = yield* Coalescing.make((questions: ReadonlyArray<string>) =>
        Effect.suspend(() => {
          const door = doors[asked.push(questions) - 1]
          return Effect.as(door === undefined ? Effect.void : Deferred.await(door), asked.length)
        }),
      )
      const first = yield* Effect.fork(ask("a"))
      yield* settled
      const others = yield* Effect.forEach(["b", "c", "b"], (question) => Effect.fork(ask(question)))
      yield* settled
      expect(asked).toEqual([["a"]])
      yield* Deferred.succeed(doors[0] ?? expect.fail(), undefined)
      expect(yield* Fiber.join(first)).toBe(1)
      yield* settled
      const late = yield* Effect.fork(ask("d"))
      yield* settled
      expect(asked).toEqual([["a"], ["b", "c", "b"]])
      yield* Deferred.succeed(doors[1] ?? expect.fail(), undefined)
      expect(yield* Effect.forEach(others, Fiber.join)).toEqual([2, 2, 2])
      expect(yield* Fiber.join(late)).toBe(3)
      expect(asked[2]).toEqual(["d"])
      expect(yield* ask("e")).toBe(4)
    }),
  ))

it("gives a failure to all that asked together, and continues; a cancelled request affects no other", () =>
  run(
    Effect.gen(function* () {
      const doors = [yield* Deferred.make<void, string>(), yield* Deferred.make<void, string>()]
      let asked = 0
      const ask = yield* Coalescing.make((_: ReadonlyArray<number>) =>
        Effect.suspend(() => {
          const door = doors[asked++]
          return door === undefined ? Effect.die("a bug") : Deferred.await(door)
        }),
      )
      const leaving = yield* Effect.fork(ask(1))
      yield* settled
      const staying = yield* Effect.fork(Effect.exit(ask(2)))
      yield* settled
      yield* Fiber.interrupt(leaving)
      yield* Deferred.succeed(doors[0] ?? expect.fail(), undefined)
      yield* Deferred.fail(doors[1] ?? expect.fail(), "away")
      expect(yield* Fiber.join(staying)).toEqual(Exit.fail("away"))
      expect(yield* Effect.exit(ask(3))).toEqual(Exit.die("a bug"))
    }),
  ))
