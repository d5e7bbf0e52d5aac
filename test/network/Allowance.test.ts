import { describe, expect, it } from "vitest"
import { Allowance } from "../../src/network/Allowance.js"

describe("an allowance", () => {
  it("lets a burst through, then as much as comes in a second", () => {
    const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0)
    expect(allowance.take(100, 0)).toBe(0)
    expect(allowance.take(5, 0)).toBe(500)
    expect(allowance.take(5, 1_000)).toBe(0)
    expect(allowance.take(1, 1_000)).toBe(100)
  })

  it("saves up no more than a burst, and a clock that goes back gives nothing", () => {
    const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0)
    expect(allowance.take(100, 1_000_000)).toBe(0)
    expect(allowance.take(10, 0)).toBe(1_000)
  })

  it("earns no more than a burst, and goes on at another rate with what is left", () => {
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

  it("uses credit first, which a full one takes too, up to a limit, and which time does not renew", () => {
    const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0)
    for (let n = 0; n < 10; n++) allowance.credit(100, 300)
    expect(allowance.take(300, 0)).toBe(0)
    expect(allowance.take(100, 0)).toBe(0)
    expect(allowance.take(1, 0)).toBe(100)
    expect(allowance.take(100, 1_000_000)).toBe(0)
    expect(allowance.take(1, 1_000_000)).toBe(100)
  })
})
