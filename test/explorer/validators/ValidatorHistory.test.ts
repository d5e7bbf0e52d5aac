import { describe, expect, it } from "vitest"
import * as ValidatorHistory from "../../../src/explorer/validators/ValidatorHistory.js"

const NOON = 1_700_000_000_000

const posting = (kind: "reward" | "fees" | "council", amount: number, timestamp: number) =>
  ({ kind, amount, timestamp }) as Parameters<typeof ValidatorHistory.earnings>[0][number]

const set = (percent: number, timestamp: number, applied = true) =>
  ({
    applied,
    timestamp,
    transaction: { type: "SetCommissionTx", commission_percent: percent },
  }) as Parameters<typeof ValidatorHistory.commissions>[0][number]

describe("a validator's history", () => {
  it("has its stake in each epoch, oldest first, except without a seat or a known time", () => {
    const openings = [
      { timestamp: NOON + 2_000, weights: new Map([["a", 7]]) },
      { timestamp: null, weights: new Map([["a", 6]]) },
      { timestamp: NOON + 1_000, weights: new Map([["b", 3]]) },
      { timestamp: NOON, weights: new Map([["a", 5]]) },
    ]
    expect(ValidatorHistory.stakes("a", openings)).toEqual({
      at: [NOON / 1_000, NOON / 1_000 + 1, NOON / 1_000 + 2],
      values: [[5, null, 7]],
    })
  })

  it("has each commission that took effect, up to now", () => {
    const newestFirst = [set(9, NOON + 2_000), set(50, NOON + 1_000, false), set(5, NOON)]
    expect(ValidatorHistory.commissions(newestFirst, NOON + 3_000, 9)).toEqual({
      at: [NOON / 1_000, NOON / 1_000 + 2, NOON / 1_000 + 3],
      values: [[5, 9, 9]],
    })
  })

  it("adds up the earnings of vertices on each day, and nothing else", () => {
    const day = 86_400_000
    const entries = [posting("fees", 3, NOON), posting("reward", 10, NOON), posting("council", 99, NOON)]
    const course = ValidatorHistory.earnings([
      ...entries,
      posting("reward", 20, NOON - day),
      posting("reward", 1, NOON),
    ])
    expect(course.values).toEqual([
      [20, 11],
      [0, 3],
    ])
    expect((course.at[1] ?? 0) - (course.at[0] ?? 0)).toBe(86_400)
  })
})
