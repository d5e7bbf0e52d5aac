import { expect, it } from "vitest"
import { Quota } from "../../../src/cli/tracing/Quota.js"

const taken = (quota: Quota, who: string, times: number, at: number): number =>
  Array.from({ length: times }, () => quota.take(who, at)).filter(Boolean).length

it("bounds each second in all and for each, and forgets the second before", () => {
  const quota = new Quota(20, 5)
  expect(taken(quota, "loud", 1_000, 7_000)).toBe(5)
  expect(taken(quota, "other", 3, 7_500)).toBe(3)
  const crowd = Array.from({ length: 1_000 }, (_, n) => taken(quota, `${n}`, 2, 7_999))
  expect(crowd.reduce((sum, each) => sum + each, 0)).toBe(12)
  expect(taken(quota, "other", 1, 7_999)).toBe(0)
  expect(taken(quota, "loud", 1_000, 8_000)).toBe(5)
})
