import { expect, it } from "vitest"
import { Figures, type Reading } from "../../../src/node/history/Figures.js"
import * as HistoryFile from "../../../src/node/history/HistoryFile.js"

const NOTHING: Reading = {
  transactions: 0,
  rounds: 0,
  fees: 0,
  finalityMs: 0,
  finalVertices: 0,
  supply: 100,
  staked: 10,
  mempool: 4,
}

/** Midnight, so that steps of every range begin. */
const MIDNIGHT = 1_767_225_600_000
const SECOND = 1_000
const HOUR = 3_600 * SECOND

const begun = () => new Figures(NOTHING, HistoryFile.nothing.figures)

it("counts events between two readings in the second, minute and hour of the later one", () => {
  const figures = begun()
  figures.add({ ...NOTHING, transactions: 3, rounds: 2, supply: 105 }, 1_000, MIDNIGHT)
  figures.add({ ...NOTHING, transactions: 10, rounds: 4, supply: 107, staked: 9 }, 1_001, MIDNIGHT + 1_001)
  const { hour, day, year } = figures.points
  expect(hour).toMatchObject([
    { at: MIDNIGHT, ms: 1_000, transactions: 3, rounds: 2, supply: 105, staked: 10 },
    { at: MIDNIGHT + 1_000, ms: 1_001, transactions: 7, rounds: 2, supply: 107, staked: 9 },
  ])
  const both = [{ at: MIDNIGHT, ms: 2_001, transactions: 10, rounds: 4, supply: 107, staked: 9 }]
  expect(day).toMatchObject(both)
  expect(year).toMatchObject(both)
})

it("keeps at most an hour of seconds, a day of minutes and a year of hours", () => {
  const figures = begun()
  for (let minute = 0; minute < 26 * 60; minute++) figures.add(NOTHING, 60_000, MIDNIGHT + minute * 60_000)
  const last = MIDNIGHT + (26 * 60 - 1) * 60_000
  for (let second = 0; second < 4_000; second++) figures.add(NOTHING, 1_000, last + second * SECOND)
  expect(figures.points.hour.length).toBe(3_600)
  expect(figures.points.day.length).toBe(1_440)
  for (let hour = 0; hour < 9_000; hour++) figures.add(NOTHING, HOUR, last + 2 * HOUR + hour * HOUR)
  expect(figures.points.year.length).toBe(8_760)
  expect(figures.points.hour.length).toBe(1)
})

it("forgets counts in the future from a clock that was ahead, and continues at the right time", () => {
  const figures = begun()
  figures.add({ ...NOTHING, rounds: 1 }, 1_000, MIDNIGHT)
  figures.add({ ...NOTHING, rounds: 2 }, 1_000, MIDNIGHT + 400 * 24 * HOUR)
  figures.add({ ...NOTHING, rounds: 3 }, 1_000, MIDNIGHT + SECOND)
  expect(figures.points.hour).toMatchObject([{ at: MIDNIGHT + SECOND, rounds: 1 }])
})

it("continues from the figures it kept", () => {
  const before = begun()
  before.add({ ...NOTHING, rounds: 5 }, 1_000, MIDNIGHT)
  const after = new Figures({ ...NOTHING, rounds: 100 }, before.points)
  after.add({ ...NOTHING, rounds: 102 }, 1_000, MIDNIGHT + 30 * SECOND)
  expect(after.points.hour).toMatchObject([
    { at: MIDNIGHT, rounds: 5 },
    { at: MIDNIGHT + 30 * SECOND, rounds: 2 },
  ])
  expect(after.points.year).toMatchObject([{ at: MIDNIGHT, rounds: 7 }])
})
