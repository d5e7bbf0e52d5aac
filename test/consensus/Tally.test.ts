import { expect, it } from "vitest"
import { Tally } from "../../src/consensus/dag/Tally.js"

it("a tally counts the weight of each author once", () => {
  const tally = new Tally()
  expect(tally.weight).toBe(0)
  for (const [seat, weight] of [
    [2, 5],
    [0, 3],
    [2, 5],
  ] as const)
    tally.add(seat, weight)
  expect(tally.weight).toBe(8)
})
