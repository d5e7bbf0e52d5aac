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

it("a newcomer sends at least three in every quarter of an epoch, also when commits are rare", () => {
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

it("a newcomer sends one with the first commit, then with the first one a sixteenth of an epoch later", () => {
  const record = recordOf(equalWeights(4), { firstRound: Natural.round(101), rules: { ...rules, epochRounds: 240 } })
  const heartbeats = new Heartbeats(record)
  const due = (rounds: ReadonlyArray<number>) => rounds.filter((round) => heartbeats.isDue(commitAt(round)))
  expect(due([100, 101, 102, 115, 116, 117, 140, 141, 154, 155])).toEqual([101, 116, 140, 155])
  heartbeats.open({ ...record, firstRound: Natural.round(341) })
  expect(due([340, 341])).toEqual([341])
})
