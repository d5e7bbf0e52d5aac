import { describe, expect, it } from "vitest"
import * as Words from "../../../src/explorer/show/Words.js"
import * as Natural from "../../../src/protocol/numbers/Natural.js"

describe("figures in words", () => {
  it.each([
    [0, "0.00"],
    [1, "0.00000001"],
    [150_000_000, "1.50"],
    [123_456_789_000_000, "1,234,567.89"],
    [2_100_000_000_000_000, "21,000,000.00"],
  ])("show %d sats as %s coins, exactly", (sats, coins) => {
    expect(Words.coins(sats)).toBe(coins)
  })

  it("are whole coins where smaller amounts do not matter", () => {
    expect(Words.wholeCoins(123_456_789_999_999)).toBe("1,234,567")
  })

  it.each([
    [0, "0 s"],
    [400, "< 1 s"],
    [61_000, "1 min 1 s"],
    [3_600_000, "1 h"],
    [90_061_000, "1 d 1 h"],
    [Number.NaN, "–"],
  ])("show %d ms as %s", (ms, said) => {
    expect(Words.duration(ms)).toBe(said)
  })

  it.each([
    [0, "now"],
    [5_400, "5 s ago"],
    [59_999, "59 s ago"],
    [7_200_000, "2 h ago"],
    [-5_000, "in 5 s"],
  ])("show %d ms ago as %s", (ms, said) => {
    expect(Words.ago(1_000_000_000_000, 1_000_000_000_000 + ms)).toBe(said)
  })

  it("abbreviate only if that is shorter", () => {
    expect(Words.abbreviated("a".repeat(15))).toBe("a".repeat(15))
    expect(Words.abbreviated("0123456789abcdefghij")).toBe("01234567…efghij")
    expect(Words.abbreviated("tudg1nu7p526dtehhpqvj5w6vt4h8lqy352eud263hw")).toBe("tudg1nu7p5…d263hw")
    expect([Words.within("@lighthouse", 11), Words.within("@lighthouse", 6)]).toEqual(["@lighthouse", "@ligh…"])
  })
})

it("group the digits of shares, too", () => {
  expect([
    Words.percent(0.1449),
    Words.percent(113.019, 1),
    Words.percent(2 / 3, 0),
    Words.percent(Number.NaN),
  ]).toEqual(["14.5 %", "11,301.9 %", "67 %", "–"])
})

it("show an invalid time as it is, since a formatter throws at it", () => {
  for (const ms of [Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY, Number.NaN]) {
    expect([Words.moment(ms), Words.shortMoment(ms, 0)]).toEqual([`${ms} ms after 1970`, `${ms} ms after 1970`])
  }
  expect(Words.moment(Natural.LATEST)).toMatch(/9999|10000/)
})
