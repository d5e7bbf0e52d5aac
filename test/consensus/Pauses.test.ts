import { expect, it } from "vitest"
import { Pauses } from "../../src/consensus/Pauses.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"

const START = 1_700_000_000_000

/** Checks at these times of the steady clock, with the wall clock this far ahead. */
const looksAt = (intervalMs: number, ...looks: ReadonlyArray<readonly [number, number?]>) => {
  const pauses = new Pauses(intervalMs)
  return looks.map(([at, ahead = 0]) => pauses.look(Natural.timestamp(START + at), ahead))
}

it("reports no pause for a process that looks often or has just started", () => {
  expect(looksAt(500, [0], [0], [250], [2_250])).toEqual([false, false, false, false])
})

it("reports a pause once after more than four intervals, or two seconds, without a look", () => {
  expect(looksAt(100, [0], [2_001], [2_002])).toEqual([false, true, false])
  expect(looksAt(1_000, [0], [4_000], [8_001])).toEqual([false, false, true])
})

it("counts the pauses, with the length of the last one", () => {
  const pauses = new Pauses(100)
  for (const at of [0, 100, 2_101, 2_200, 5_200]) pauses.look(Natural.timestamp(START + at), 0)
  expect(pauses.seen).toEqual({ count: 2, lastMs: 3_000 })
})

it("detects by the wall clock that the steady clock stopped with the machine", () => {
  expect(looksAt(100, [0, 30], [10, 2_030], [20, 2_030])).toEqual([false, true, false])
})

it("ignores a wall clock that is set back, which hides no pause of the steady clock", () => {
  expect(looksAt(100, [0], [10, -60_000], [3_000, -120_000])).toEqual([false, false, true])
})
