import { rmSync } from "node:fs"
import { Effect, Fiber, Option } from "effect"
import { expect } from "vitest"
import { Supervisor } from "../../src/node/lifecycle/Supervisor.js"
import { Health } from "../../src/node/reads/Health.js"
import { withPlatform } from "./withDirectory.js"
import * as world from "./world.js"

// test/blackbox/Endings.test.ts covers the built node's exit; another process may miss the second between the two.
withPlatform("reports a node with a deleted directory as unhealthy before it ends", function* () {
  const directory = `${yield* world.temporaryDirectory}/data`
  yield* Effect.gen(function* () {
    const health = yield* Health
    const problem = Effect.map(health.report, ({ problems }) =>
      problems.find(({ component }) => component === "data_directory"),
    )
    const end = yield* Effect.forkScoped(Effect.flip((yield* Supervisor).ended))
    expect(yield* problem).toBeUndefined()
    rmSync(directory, { recursive: true, maxRetries: 20, retryDelay: 10 })
    const said = yield* Effect.repeat(Effect.delay(problem, "20 millis"), { until: (found) => found !== undefined })
    expect(said).toMatchObject({ status: "unhealthy", reason: expect.stringContaining(directory) })
    expect(yield* Fiber.poll(end)).toEqual(Option.none())
    expect(yield* Fiber.join(end)).toMatchObject({ _tag: "DirectoryLost" })
  }).pipe(Effect.provide(world.node(directory)))
})
