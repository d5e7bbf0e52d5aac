import { FastCheck } from "effect"
import { expect, it } from "vitest"
import { QuorumProgress } from "../../src/consensus/dag/QuorumProgress.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { committeeOf } from "./TestCommittee.js"

it("a quorum's progress is the highest round that its members have reached, in any order of arrival", () => {
  const weights = [3, 2, 2, 1, 1]
  const committee = committeeOf(weights)
  const news = FastCheck.array(FastCheck.tuple(FastCheck.nat(4), FastCheck.integer({ min: 1, max: 20 })))
  FastCheck.assert(
    FastCheck.property(news, (told) => {
      const reached = new QuorumProgress(committee)
      const highest = [0, 0, 0, 0, 0]
      for (const [seat, round] of told) {
        reached.add(seat, Natural.round(round))
        highest[seat] = Math.max(highest[seat] ?? 0, round)
        const weightAt = (round: number) =>
          weights.reduce((sum, weight, at) => sum + ((highest[at] ?? 0) >= round ? weight : 0), 0)
        let expected = 0
        while (committee.isQuorum(weightAt(expected + 1))) expected++
        expect(reached.round).toBe(expected)
      }
    }),
  )
})
