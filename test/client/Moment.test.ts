import { expect, it } from "vitest"
import * as Moment from "../../src/client/Moment.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"

it("shows every time as a date, and an impossible one as its number", () => {
  expect([0, 1_700_000_000_000, Natural.LATEST].map(Moment.iso)).toEqual([
    "1970-01-01T00:00:00.000Z",
    "2023-11-14T22:13:20.000Z",
    "9999-12-31T23:59:59.999Z",
  ])
  for (const ms of [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, Number.NaN, Infinity]) {
    expect(Moment.iso(ms)).toBe(`${ms} ms after 1970`)
  }
})
