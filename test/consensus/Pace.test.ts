import { expect, it } from "vitest"
import { Pace } from "../../src/consensus/Pace.js"

it("a pace is due at once, and then not before its time", () => {
  const pace = new Pace(100)
  expect([0, 1, 99, 100, 199, 200].map((now) => pace.isDue(now))).toEqual([true, false, false, true, false, true])
})

it("a pace is due its whole time after a late turn", () => {
  const pace = new Pace(100)
  pace.isDue(0)
  expect([150, 249, 250].map((now) => pace.isDue(now))).toEqual([true, false, true])
})

it("a pace reports when it is due again, and its whole time from now if it is due already", () => {
  const pace = new Pace(100)
  expect(pace.nextAfter(30)).toBe(130)
  pace.isDue(30)
  expect([30, 129, 130, 131].map((now) => pace.nextAfter(now))).toEqual([130, 130, 230, 231])
})
