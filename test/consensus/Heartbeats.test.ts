import { expect, it } from "vitest"
import { Heartbeats } from "../../src/consensus/Heartbeats.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import { equalWeights, recordOf, rules } from "./TestCommittee.js"

const commitAt = (leaderRound: number): Commit.Commit =>
  Commit.make({
    index: Natural.commitIndex(leaderRound),
    epoch: Natural.epoch(1),
    leaderRound: Natural.round(leaderRound),
    leaderHash: Hash.ZERO,
    previous: Hash.ZERO,
  })

it("a newcomer's heart beats at least three times in every quarter of an epoch, also when commits are rare", () => {
  for (const [epochRounds, every] of [
    [40, 1],
    [240, 3],
    [7_200, 40],
  ] as const) {
    const record = recordOf(equalWeights(4), { rules: { ...rules, epochRounds } })
    const heartbeats = new Heartbeats(record)
    const beats: Array<number> = []
    for (let round = 1; round <= epochRounds; round += every) if (heartbeats.isDue(commitAt(round))) beats.push(round)
    for (let quarter = 0; quarter < 4; quarter++) {
      const from = 1 + (quarter * epochRounds) / 4
      const within = beats.filter((round) => round >= from && round < from + epochRounds / 4)
      expect(within.length).toBeGreaterThanOrEqual(3)
      expect(within.length).toBeLessThanOrEqual(5)
    }
  }
})
