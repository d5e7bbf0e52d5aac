import { describe, expect, it } from "vitest"
import * as Reward from "../../../src/explorer/validators/Reward.js"

describe("the estimate of a yearly reward", () => {
  it("splits by stake what treasury and council leave, after the commission", () => {
    // The example of docs/economics.md, for a validator with the whole committee's stake.
    const { total, toValidator, delegatorRate, validatorRate, roundsPerYear } = Reward.estimate({
      roundReward: 10_000_000,
      roundsPerSecond: 2,
      ownStake: 100_000,
      effectiveStake: 150_000,
      committeeStake: 150_000,
      uptime: 1,
      withheldPercent: 20,
      commissionPercent: 10,
    })
    expect(roundsPerYear).toBe(63_072_000)
    expect(total / roundsPerYear).toBeCloseTo(8_000_000)
    expect(toValidator / roundsPerYear).toBeCloseTo(5_600_000)
    expect((delegatorRate * 50_000) / roundsPerYear).toBeCloseTo(2_400_000)
    expect(validatorRate * 100_000).toBeCloseTo(toValidator)
  })

  it("is proportional to share and uptime, and 0 without stake", () => {
    const half = {
      ...{ roundReward: 10, roundsPerSecond: 1, ownStake: 5, effectiveStake: 5, committeeStake: 10 },
      ...{ uptime: 0.5, withheldPercent: 0, commissionPercent: 0 },
    }
    expect(Reward.estimate(half).total / Reward.estimate(half).roundsPerYear).toBeCloseTo(2.5)
    expect(Reward.estimate({ ...half, ownStake: 0, effectiveStake: 0, committeeStake: 0 }).validatorRate).toBe(0)
  })

  it("halves the reward of a round where the ledger does", () => {
    expect([1, 100, 101, 200, 201].map((round) => Reward.ofRound(round, 11, 100))).toEqual([11, 11, 5, 5, 2])
  })
})
