import { describe, expect, it } from "vitest"
import { Allowance } from "../../src/network/Allowance.js"

describe("an allowance", () => {
  it("admits a burst, then its rate per second", () => {
    const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0)
    expect(allowance.take(100, 0)).toBe(0)
    expect(allowance.take(5, 0)).toBe(500)
    expect(allowance.take(5, 1_000)).toBe(0)
    expect(allowance.take(1, 1_000)).toBe(100)
  })

  it("saves up at most a burst, and gains nothing from a clock that goes back", () => {
    const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0)
    expect(allowance.take(100, 1_000_000)).toBe(0)
    expect(allowance.take(10, 0)).toBe(1_000)
  })

  it("earns at most a burst, and continues at a new rate with the rest", () => {
    const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0)
    allowance.earn(1_000)
    expect(allowance.take(100, 0)).toBe(0)
    allowance.earn(20)
    expect(allowance.take(30, 0)).toBe(1_000)
    allowance.change({ burst: 100, perSecond: 1_000 }, 500)
    expect(allowance.take(0, 500)).toBe(5)
    allowance.change({ burst: 10, perSecond: 1_000 }, 500)
    expect(allowance.take(10, 100_000)).toBe(0)
    expect(allowance.take(1, 100_000)).toBe(1)
  })

  it("uses bounded credit first, which can exceed a burst and does not refill with time", () => {
    const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0)
    for (let n = 0; n < 10; n++) allowance.credit(100, 300)
    expect(allowance.take(300, 0)).toBe(0)
    expect(allowance.take(100, 0)).toBe(0)
    expect(allowance.take(1, 0)).toBe(100)
    expect(allowance.take(100, 1_000_000)).toBe(0)
    expect(allowance.take(1, 1_000_000)).toBe(100)
  })
})
