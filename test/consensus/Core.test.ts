import { describe, expect, it } from "vitest"
import { Core, freshEpoch } from "../../src/consensus/Core.js"
import type { Output } from "../../src/consensus/Output.js"
import { SigningGuard } from "../../src/consensus/SigningGuard.js"
import * as Counter from "../../src/protocol/Counter.js"
import { openingOf, recordOf } from "./TestCommittee.js"
import { VertexBuilder } from "./VertexBuilder.js"

describe("solo", () => {
  it("commits every round with a lag of two", () => {
    const record = recordOf([1])
    const opening = openingOf(record)
    const builder = new VertexBuilder(opening)
    const self = builder.committee.member(0).address
    const core = new Core(
      { roundIntervalMs: 500, guard: new SigningGuard(self, 500, Counter.epoch(1), []) },
      { current: freshEpoch(opening), previous: null },
    )
    let now = Counter.timestamp(1_000_000)
    const commits: Array<number> = []
    const handle = (outputs: ReadonlyArray<Output>): void => {
      for (const output of outputs) {
        if (output._tag === "Propose") {
          handle(core.own(builder.make(0, output.round, output.parents, { timestamp: output.timestamp }), now))
        } else if (output._tag === "Committed") commits.push(output.commit.leaderRound)
      }
    }
    handle(core.start(now))
    while (core.epoch.dag.highestRound < 20) {
      now = core.wakeAt(now)
      handle(core.tick(now))
    }
    expect(commits).toEqual(Array.from({ length: 18 }, (_, i) => i + 1))
    expect(now).toBe(1_000_000 + 19 * 500)
  })
})
