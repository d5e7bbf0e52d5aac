import { it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Scope, TestClock } from "effect"
import { describe, expect } from "vitest"
import * as Supervisor from "../../src/node/Supervisor.js"
import * as Writer from "../../src/node/Writer.js"
import * as Counter from "../../src/protocol/Counter.js"
import * as Storage from "../../src/storage/Storage.js"
import { genesis } from "../storage/world.js"
import * as world from "./world.js"

const inMemory = Storage.layer({ location: { _tag: "Ephemeral" }, genesis: genesis() })

describe("the writer", () => {
  // Its time-out was as uninterruptible as the finalizer it stood in, and a stop could wait for ever.
  it.effect("lets a stop wait two and a half seconds, however long what it has begun takes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const listener = { written: () => Effect.void, told: () => Effect.never }
      const start = Writer.start(yield* Storage.Storage, yield* Supervisor.Supervisor, listener)
      const give = yield* Scope.extend(start, scope)
      give({ _tag: "Tell", happening: { _tag: "RoundReached", round: Counter.round(1) } })
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.poll(closing)).toEqual(Option.none())
      yield* TestClock.adjust("500 millis")
      expect(yield* Fiber.join(closing)).toBeUndefined()
    }).pipe(Effect.provide(Layer.merge(inMemory, Supervisor.layer)), Effect.provide(world.platform)),
  )
})
