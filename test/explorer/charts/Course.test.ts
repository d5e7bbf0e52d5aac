import { expect, it } from "vitest"
import * as Course from "../../../src/explorer/charts/Course.js"

const columns = (at: ReadonlyArray<number>) => ({ step_ms: 1_000, at: at.map((second) => 1_000 * second) })

it("combines the points of each group: events as a rate, levels by their last value", () => {
  const counts = [1, 3, 5, 7, 9]
  const measured = [1_000, 1_000, 1_000, 500, 500]
  const course = Course.draw(columns([10, 11, 12, 13, 14]), { from: 0, groupMs: 2_000 }, [
    Course.rate(counts, measured),
    Course.level(counts),
    Course.mean([null, 4, null, null, 6]),
  ])
  expect(course).toEqual({
    at: [10, 12, 14],
    values: [
      [2, 8, 18],
      [3, 7, 9],
      [4, null, 6],
    ],
  })
})

it("begins with the window, and has no value where nothing was measured", () => {
  const course = Course.draw(columns([1, 2, 3]), { from: 2_000, groupMs: 0 }, [
    Course.rate([1, 1, 1], [1_000, 0, 1_000]),
  ])
  expect(course).toEqual({ at: [2, 3], values: [[null, 1]] })
})

it("breaks the line where the node did not run, and not where a step was late", () => {
  const course = Course.draw(columns([1, 3, 30]), { from: 0, groupMs: 1_000 }, [Course.level([1, 2, 3])])
  expect(course).toEqual({ at: [1, 3, 4, 30], values: [[1, 2, null, 3]] })
})

it("draws nothing for no points", () => {
  expect(Course.draw(columns([]), { from: 0, groupMs: 1_000 }, [Course.level([])])).toEqual({ at: [], values: [[]] })
  expect(Course.draw(columns([1]), { from: 5_000, groupMs: 1_000 }, [Course.level([1])])).toEqual({
    at: [],
    values: [[]],
  })
})

it("stacks each line on the previous ones", () => {
  const made = [4, 5, null]
  const missed = [1, 0, null]
  expect(Course.stacked([made, missed])).toEqual([made, [5, 5, null]])
})
