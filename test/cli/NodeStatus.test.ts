import { it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { describe, expect } from "vitest"
import * as NodeStatus from "../../src/cli/NodeStatus.js"
import { StatusLine } from "../../src/cli/terminal/StatusLine.js"
import { Metrics } from "../../src/node/reads/Metrics.js"
import * as world from "../node/world.js"

const STATUS = /^round ([\d,]+) · final up to ([\d,]+) · \d+ tx\/s · 0 waiting · 0 peers$/

describe("the terminal status of a node", () => {
  it.scopedLive("follows its rounds, and disappears at its end", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const written: Array<string> = []
      const line = new StatusLine({ write: (text) => written.push(text), columns: Option.none })
      const last = () => (written.at(-1) ?? "").replace("\r\u001b[K", "")
      yield* Effect.gen(function* () {
        const metrics = yield* Metrics
        const showing = yield* Effect.fork(NodeStatus.show(line))
        yield* Effect.promise(() => expect.poll(last).toMatch(STATUS))
        const [, round = "", final = ""] = STATUS.exec(last()) ?? []
        const { dagRound, finalizedRound } = metrics.figures()
        expect(Number(round.replaceAll(",", ""))).toBeGreaterThan(0)
        expect(Number(round.replaceAll(",", ""))).toBeLessThanOrEqual(dagRound)
        expect(Number(final.replaceAll(",", ""))).toBeLessThanOrEqual(finalizedRound)
        yield* Fiber.interrupt(showing)
        expect(last()).toBe("")
      }).pipe(Effect.provide(world.node(directory)))
    }).pipe(Effect.provide(world.platform)),
  )

  it("writes counts in readable words", () => {
    const figures = { dagRound: 1_234_567, finalizedRound: 1_234_565, mempoolSize: 12_000, peers: 1 }
    expect(NodeStatus.words(figures, 1_234.6)).toBe(
      "round 1,234,567 · final up to 1,234,565 · 1,235 tx/s · 12,000 waiting · 1 peer",
    )
  })
})
