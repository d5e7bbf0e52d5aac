import { expect, it } from "vitest"
import { Fetches, type Lacking } from "../../src/consensus/Fetches.js"
import { Pace } from "../../src/consensus/Pace.js"
import * as Counter from "../../src/protocol/Counter.js"
import { draw } from "./Picture.js"
import { parentOf } from "./VertexBuilder.js"

const picture = draw(`
    A B C
  1 . . .
`)
const missing = (names: ReadonlyArray<string>): Lacking => ({
  isMissing: ({ hash }) => names.some((name) => picture.vertex(name).header.hash === hash),
  *toFetch(_, isAsked = () => false) {
    for (const name of names) {
      const parent = parentOf(picture.vertex(name))
      if (!isAsked(parent.hash)) yield { parent, namedBy: picture.committee.member(2).address }
    }
  },
})
const at = Counter.timestamp

it("a missing parent is asked for at once, and again after the retry time, counting the attempts", () => {
  const fetches = new Fetches(1_000)
  const asked = (names: ReadonlyArray<string>, now: number) =>
    fetches.due(missing(names), 9, at(now)).map(({ parent, attempt }) => [parent.author, attempt])
  const [a, b] = [picture.committee.member(0).address, picture.committee.member(1).address]
  expect(asked(["A1"], 0)).toEqual([[a, 0]])
  expect(asked(["A1", "B1"], 500)).toEqual([[b, 0]])
  expect(asked(["A1", "B1"], 1_000)).toEqual([[a, 1]])
  expect(asked(["A1", "B1"], 3_000)).toEqual([
    [a, 2],
    [b, 1],
  ])
})

it("what was missing no longer and is missing again is new", () => {
  const fetches = new Fetches(1_000)
  fetches.due(missing(["A1"]), 9, at(0))
  fetches.due(missing([]), 9, at(1))
  expect(fetches.due(missing(["A1"]), 9, at(2)).map(({ attempt }) => attempt)).toEqual([0])
})

it("a pace lets through once in its time, and is not held up by a clock that is set back", () => {
  const pace = new Pace(100)
  expect([1_000, 1_050, 1_100, 1_150].map((now) => pace.isDue(now))).toEqual([true, false, true, false])
  expect(pace.nextAfter(1_150)).toBe(1_200)
  expect(pace.isDue(10)).toBe(true)
  expect(pace.nextAfter(10)).toBe(110)
})
