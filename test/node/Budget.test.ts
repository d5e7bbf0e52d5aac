import { describe, expect, it } from "vitest"
import { Budget } from "../../src/node/signatures/Budget.js"

describe("a budget", () => {
  it("refills for strangers by the clock that goes slower on a busy machine, for others by the steady one", () => {
    const clock = { steady: 0, spare: 0 }
    const rate = { burst: 100, perSecond: 100 }
    const budget = new Budget(
      { named: rate, stranger: rate },
      { now: () => clock.steady, spareNow: () => clock.spare, spareShare: () => 1 },
    )
    const ranks = ["named", "stranger"] as const
    for (const rank of ranks) budget.take(rank, 200)
    clock.steady += 1_000
    clock.spare += 100
    expect(ranks.map((rank) => budget.has(rank))).toEqual([true, false])
    clock.spare += 900
    expect(budget.has("stranger")).toBe(true)
  })

  it("leaves ranks without a rate unlimited", () => {
    const budget = new Budget({}, { now: () => 0, spareNow: () => 0, spareShare: () => 1 })
    budget.take("member", 1_000_000)
    expect(budget.has("member")).toBe(true)
  })
})
