import { it } from "@effect/vitest"
import { Effect, Fiber, Logger, Option, TestClock } from "effect"
import { describe, expect, it as test } from "vitest"
import { SupplyWatch } from "../../src/node/engine/SupplyWatch.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"

const AT = Natural.commitIndex(7)

const totals = (liquid: number) => ({
  liquid: Sats.make(liquid),
  staked: Sats.ZERO,
  delegated: Sats.ZERO,
  treasury: Sats.ZERO,
  total: Sats.make(liquid),
})

const counted = (found: number, commit = AT, problem: string | null = null) => ({
  commit,
  found: totals(found),
  expected: totals(found),
  problem,
})

/** One whose memory has executed commit 7 with a supply of 100. */
const watching = () => {
  const watch = new SupplyWatch()
  watch.executed(AT, Sats.make(100))
  return watch
}

describe("the supply of a running node", () => {
  test("must be the same on the disk and in memory at the same commit", () => {
    expect(watching().violation(counted(100))).toBeUndefined()
    expect(watching().violation(counted(101))?.violation).toMatchObject({
      found: totals(101),
      expected: { ...totals(101), total: 100 },
      problem: "in udg.db at commit 7, the total supply differs from memory's",
    })
    // Memory began after this one, and knows nothing of it.
    expect(watching().violation(counted(101, Natural.commitIndex(6)))).toBeUndefined()
  })

  test("must be what the file itself records", () => {
    const { violation } = watching().violation(counted(100, AT, "the stakes do not add up")) ?? expect.fail()
    expect(violation.problem).toBe("in udg.db at commit 7, the stakes do not add up")
  })

  it.effect("is counted every minute, also after a count that fails, until it differs", () =>
    Effect.gen(function* () {
      let counts = 0
      const count = Effect.suspend(() => {
        counts++
        if (counts === 2) return Effect.fail(new Error("the disk is slow"))
        return Effect.succeed(counted(counts < 4 ? 100 : 99))
      })
      const watched = yield* Effect.fork(watching().run(count))
      for (const expected of [1, 2, 3]) {
        yield* TestClock.adjust("59 seconds")
        expect(counts).toBe(expected)
        expect(yield* Fiber.poll(watched)).toEqual(Option.none())
        yield* TestClock.adjust("1 second")
      }
      expect((yield* Fiber.join(watched)).violation.found).toEqual(totals(99))
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))),
  )
})
