import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"

const round = Schema.decodeUnknownEither(Natural.schema<Natural.Round>("a round"))
const percent = Schema.decodeUnknownEither(Natural.between(0, 100, "percent"))

describe("a natural number", () => {
  it("is an integer from 0 to 2^53 − 1", () => {
    for (const value of [0, 1, Number.MAX_SAFE_INTEGER]) {
      expect(round(value)).toStrictEqual(Either.right(value))
      expect(Natural.round(value)).toBe(value)
    }
  })

  it.each([-1, 0.5, 2 ** 53, Number.NaN, Infinity])("is not %s", (value) => {
    expect(Either.isLeft(round(value))).toBe(true)
    expect(() => Natural.round(value)).toThrow(`not a natural number: ${value}`)
  })

  it.each(["5", null, true, -0])("is not read from %j in JSON", (value) => {
    expect(Either.isLeft(round(value))).toBe(true)
  })
})

describe("a time", () => {
  it("is at most the last millisecond of the year 9999, which every calendar shows", () => {
    expect(new Date(Natural.LATEST).toISOString()).toBe("9999-12-31T23:59:59.999Z")
    expect([0, Natural.LATEST, Natural.LATEST + 1, -1, 0.5].map(Natural.isTimestamp)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
    expect(() => Natural.timestamp(Natural.LATEST + 1)).toThrow("not a time")
    const time = Schema.decodeUnknownEither(Natural.time("a time"))
    expect([Natural.LATEST, Natural.LATEST + 1].map((ms) => Either.isRight(time(ms)))).toEqual([true, false])
  })

  it("from a clock beyond the range is the nearest in it", () => {
    expect([-1, 5, Natural.LATEST + 1, Infinity, -Infinity].map(Natural.nearestTimestamp)).toEqual([
      0,
      5,
      Natural.LATEST,
      Natural.LATEST,
      0,
    ])
  })
})

describe("a bounded integer in JSON", () => {
  it("includes its bounds, and states them in a refusal", () => {
    expect([percent(0), percent(100)]).toStrictEqual([Either.right(0), Either.right(100)])
    for (const value of [-0, -1, 101, 1.5, "7"]) {
      expect(Either.isLeft(percent(value))).toBe(true)
    }
    expect(String(Either.merge(percent(101)))).toContain("an integer from 0 to 100")
    expect(String(Either.merge(round(-1)))).toContain("an integer from 0 to 2^53 - 1")
  })
})
