import { describe, expect, it } from "vitest"
import * as Pace from "../../../src/explorer/live/Pace.js"

const LEAST_MS = 500

/** A figure that grows at these moments. */
const moves = (...moments: ReadonlyArray<number>): Pace.Pace =>
  moments.reduce((pace, now) => Pace.moved(pace, LEAST_MS, now), Pace.begin(0))

describe("a figure that should have grown", () => {
  it("is overdue within three seconds", () => {
    const pace = moves(500, 1_000, 1_500)
    expect(Pace.isOverdue(pace, LEAST_MS, 2_000)).toBe(false)
    expect(Pace.isOverdue(pace, LEAST_MS, 4_500)).toBe(false)
    expect(Pace.isOverdue(pace, LEAST_MS, 4_501)).toBe(true)
  })

  it("can take as long as its recent intervals", () => {
    const pace = moves(2_000, 2_100, 4_500)
    expect(Pace.isOverdue(pace, LEAST_MS, 4_500 + 2_400 + 2_500)).toBe(false)
    expect(Pace.isOverdue(pace, LEAST_MS, 4_500 + 2_400 + 2_501)).toBe(true)
  })

  it("does not get used to a standstill", () => {
    const pace = moves(500, 1_000, 61_000)
    expect(Pace.isOverdue(pace, LEAST_MS, 61_000 + 3_000)).toBe(false)
    expect(Pace.isOverdue(pace, LEAST_MS, 61_000 + 3_001)).toBe(true)
  })

  it("forgets its pace of twenty moves ago", () => {
    const quick = Array.from({ length: 20 }, (_, n) => 3_000 + 500 * n)
    const pace = moves(2_500, ...quick)
    expect(Pace.isOverdue(pace, LEAST_MS, (quick.at(-1) ?? 0) + 3_001)).toBe(true)
  })
})
