import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { Supervisor } from "../../src/node/lifecycle/Supervisor.js"
import * as Health from "../../src/node/reads/Health.js"
import * as Rest from "../support/Rest.js"
import { withDirectory } from "./withDirectory.js"
import * as world from "./world.js"

/** The judgement of each value. */
const judged = <A>(judge: (value: A) => Health.Status, values: ReadonlyArray<A>) =>
  values.map((value) => [value, judge(value)])

describe("health", () => {
  it("of the dag depends on the time since the last new round, in round intervals", () => {
    const interval = 500
    const of = (intervals: number) => Health.ofDag(intervals * interval, interval)
    expect(judged(of, [-7_200, 0, 9.998, 10, 59.998, 60, 7_200])).toEqual([
      [-7_200, "healthy"],
      [0, "healthy"],
      [9.998, "healthy"],
      [10, "warning"],
      [59.998, "warning"],
      [60, "unhealthy"],
      [7_200, "unhealthy"],
    ])
  })

  it("of a signer is a warning once an answer is late, and unhealthy once 60 rounds are missed", () => {
    expect(judged((ms: number) => Health.ofSigner(ms, 500), [0, 999, 1_000, 29_999, 30_000])).toEqual([
      [0, "healthy"],
      [999, "healthy"],
      [1_000, "warning"],
      [29_999, "warning"],
      [30_000, "unhealthy"],
    ])
  })

  it("of finality is healthy up to a lag of 3, and a warning up to 10", () => {
    expect(judged(Health.ofLag, [0, 3, 4, 10, 11])).toEqual([
      [0, "healthy"],
      [3, "healthy"],
      [4, "warning"],
      [10, "warning"],
      [11, "unhealthy"],
    ])
  })

  it("of the network is a warning when strangers find no place or a bug has shown", () => {
    const some = { freePlaces: 1, failures: 0 }
    const full = { freePlaces: 0, failures: 0 }
    const failing = { freePlaces: 1, failures: 1 }
    expect(judged(Health.ofNetwork, [some, full, failing])).toEqual([
      [some, "healthy"],
      [full, "warning"],
      [failing, "warning"],
    ])
  })

  it("of the mempool is healthy below 5000, and a warning up to 8000", () => {
    expect(judged(Health.ofMempool, [0, 4_999, 5_000, 8_000, 8_001, 10_000])).toEqual([
      [0, "healthy"],
      [4_999, "healthy"],
      [5_000, "warning"],
      [8_000, "warning"],
      [8_001, "unhealthy"],
      [10_000, "unhealthy"],
    ])
  })

  it("of the network requires three peers, but no more than there are other seats", () => {
    const among = (others: number) => (peers: number) => Health.ofPeers(peers, Health.enoughPeers(others))
    const together = among(3)
    expect(judged(among(99), [1, 2, 3]).map(([, status]) => status)).toEqual(["unhealthy", "warning", "healthy"])
    expect(judged(together, [0, 1, 2, 3, 50])).toEqual([
      [0, "unhealthy"],
      [1, "unhealthy"],
      [2, "warning"],
      [3, "healthy"],
      [50, "healthy"],
    ])
    expect(among(0)(0)).toBe("healthy")
    expect(judged(among(1), [0, 1])).toEqual([
      [0, "unhealthy"],
      [1, "healthy"],
    ])
    expect(judged(among(2), [0, 1, 2])).toEqual([
      [0, "unhealthy"],
      [1, "unhealthy"],
      [2, "healthy"],
    ])
  })

  it("of checkpoints is a warning when the last one is more than 500 rounds old", () => {
    expect(judged(Health.ofCheckpoints, [0, 500, 501])).toEqual([
      [0, "healthy"],
      [500, "healthy"],
      [501, "warning"],
    ])
  })

  it("is the worst of all parts", () => {
    expect(Health.worst([])).toBe("healthy")
    expect(Health.worst(["healthy", "degraded", "healthy"])).toBe("degraded")
    expect(Health.worst(["warning", "degraded"])).toBe("warning")
    expect(Health.worst(["unhealthy", "warning", "degraded"])).toBe("unhealthy")
  })

  withDirectory("is degraded while a part is restarting", function* (directory) {
    yield* Effect.gen(function* () {
      const [health, supervisor] = yield* Effect.all([Health.Health, Supervisor])
      yield* world.untilRound(5)
      yield* supervisor.restarted("feed", Effect.fail("no feed"))
      while (!(yield* supervisor.components).some(({ status }) => status === "restarting")) {
        yield* Effect.sleep("5 millis")
      }
      const report = yield* health.report
      const { dag: ofDag, finality, state, mempool, network, checkpoints } = report
      const parts = { dag: ofDag, finality, state, mempool, network, checkpoints }
      expect(Health.worst(["degraded", ...Object.values(parts).map(({ status }) => status)])).toBe(report.status)
      expect(report.status).not.toBe("healthy")
      expect(report.components.find(({ name }) => name === "feed")).toMatchObject({ status: "restarting" })
      expect(report.problems.find(({ component }) => component === "feed")).toMatchObject({
        status: "degraded",
        reason: "it failed and is being restarted; see the log for the cause",
      })
      const unhealthy = Object.entries(parts).filter(([, { status }]) => status !== "healthy")
      expect(report.problems.map(({ component }) => component)).toEqual([...unhealthy.map(([name]) => name), "feed"])
    }).pipe(Effect.provide(world.node(directory)))
  })

  withDirectory(
    Rest.of("ten seconds of waiting", "remembers since when a component has failed, even if nobody asked in between"),
    function* (directory) {
      yield* Effect.gen(function* () {
        const [health, supervisor] = yield* Effect.all([Health.Health, Supervisor])
        yield* supervisor.restarted("feed", Effect.fail("no feed"))
        yield* Effect.sleep("10 seconds")
        const asked = Date.now()
        const problem = (yield* health.report).problems.find(({ component }) => component === "feed")
        expect(problem?.since).toBeLessThan(asked - 1_000)
      }).pipe(Effect.provide(world.node(directory)))
    },
  )
})
