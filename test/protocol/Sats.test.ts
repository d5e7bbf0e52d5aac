import { Either, FastCheck as fc, Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as arbitrary from "./arbitraries.js"

const anyInteger = arbitrary.counter()
const positive = anyInteger.map((value) => Math.max(value, 1))

/** Amounts where rounding would show first: around powers of two and ten, and at the top of the range. */
const revealing = fc.oneof(
  arbitrary.sats,
  fc.tuple(fc.nat(50), fc.integer({ min: -2, max: 2 })).map(([power, near]) => 2 ** power + near),
  fc.tuple(fc.nat(15), fc.integer({ min: -2, max: 2 })).map(([power, near]) => 10 ** power + near),
  fc.nat(1_000_000).map((near) => Sats.MAX_SUPPLY - near),
)
const amounts = revealing.filter(Sats.isSats)

/** Sats from a decimal number as JSON writes it, exponent and all, without any floating arithmetic. */
const exactSats = (json: string): bigint => {
  const match = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(json)
  if (match === null) throw new Error(`not a plain decimal: ${json}`)
  const [, whole = "", fraction = "", exponent = "0"] = match
  const shift = 8 - fraction.length - Number(exponent)
  if (shift < 0) throw new Error(`more than eight decimals: ${json}`)
  return BigInt(whole + fraction) * 10n ** BigInt(shift)
}

describe("an amount in coins", () => {
  it("prints as JSON with exactly the eight decimals it means, over the whole range", () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        expect(exactSats(JSON.stringify(Sats.toCoin(amount)))).toBe(BigInt(amount))
      }),
      { numRuns: 50_000 },
    )
  })

  it("is read from its text unchanged", () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        expect(Sats.parseCoin(Sats.formatCoin(amount))).toStrictEqual(Option.some(amount))
        expect(exactSats(Sats.formatCoin(amount))).toBe(BigInt(amount))
      }),
      { numRuns: 10_000 },
    )
  })

  it.each([
    [0, "0"],
    [1, "0.00000001"],
    [100_000_000, "1"],
    [1_250_000_000, "12.5"],
    [Sats.MAX_SUPPLY, "21000000"],
    [Sats.MAX_SUPPLY - 1, "20999999.99999999"],
  ])("of %d sats is written %s", (sats, text) => {
    expect(Sats.formatCoin(Sats.make(sats))).toBe(text)
  })

  it.each(["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", " 1", "1 ", "0x10", "1.123456789", "21000000.00000001", "١"])(
    "is not read from %j",
    (text) => {
      expect(Sats.parseCoin(text)).toStrictEqual(Option.none())
    },
  )

  it("may be typed with zeros that formatting omits", () => {
    expect(Sats.parseCoin("007.50")).toStrictEqual(Option.some(750_000_000))
  })
})

describe("⌊a · b ÷ c⌋", () => {
  it("is exact for all safe integers, and throws when the result is not one", () => {
    fc.assert(
      fc.property(anyInteger, anyInteger, positive, (a, b, c) => {
        const exact = (BigInt(a) * BigInt(b)) / BigInt(c)
        if (exact <= BigInt(Number.MAX_SAFE_INTEGER)) expect(BigInt(Sats.mulDivFloor(a, b, c))).toBe(exact)
        else expect(() => Sats.mulDivFloor(a, b, c)).toThrow(RangeError)
      }),
      { numRuns: 10_000 },
    )
  })

  it("is exact where the product is just around 2^53", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 2 ** 30 }),
        fc.integer({ min: -3, max: 3 }),
        positive.map((c) => c + 1),
        (a, near, c) => {
          const b = Math.floor(2 ** 53 / a) + near
          expect(BigInt(Sats.mulDivFloor(a, b, c))).toBe((BigInt(a) * BigInt(b)) / BigInt(c))
        },
      ),
      { numRuns: 5_000 },
    )
  })

  it("never divides by zero", () => {
    expect(() => Sats.mulDivFloor(1, 1, 0)).toThrow("1 ÷ 0: the divisor must be positive")
    for (const divisor of [0, -1, Number.NaN]) {
      expect(() => Sats.mulDivFloor(2 ** 52, 4, divisor)).toThrow(
        `4503599627370496 · 4 ÷ ${divisor}: the divisor must be positive`,
      )
    }
    expect(() => Sats.mulDivFloor(2 ** 52, 4, 1)).toThrow("4503599627370496 · 4 ÷ 1 is above 2^53 - 1")
    expect(() => Sats.make(0.5)).toThrow("not an amount of sats: 0.5")
  })

  it("with c = 1 is a division without remainder", () => {
    fc.assert(
      fc.property(anyInteger, positive, (a, b) => {
        expect(BigInt(Sats.divideFloor(a, b))).toBe(BigInt(a) / BigInt(b))
      }),
      { numRuns: 5_000 },
    )
  })

  it("takes percentages of any amount", () => {
    fc.assert(
      fc.property(arbitrary.sats, arbitrary.percent(), (amount, percentage) => {
        expect(BigInt(Sats.percent(amount, percentage))).toBe((BigInt(amount) * BigInt(percentage)) / 100n)
      }),
    )
  })
})

describe("arithmetic on amounts", () => {
  it("stays in the range or throws with the figures", () => {
    fc.assert(
      fc.property(arbitrary.sats, arbitrary.sats, (a, b) => {
        if (a + b <= Sats.MAX_SUPPLY) expect(Sats.addBounded(a, b)).toBe(a + b)
        else expect(() => Sats.addBounded(a, b)).toThrow(`${a} + ${b} sats is above the maximum supply`)
        if (a >= b) expect(Sats.subtractBounded(a, b)).toBe(a - b)
        else expect(() => Sats.subtractBounded(a, b)).toThrow(`${a} - ${b} sats is below zero`)
        expect(Sats.min(a, b)).toBe(Math.min(a, b))
        expect(Sats.max(a, b)).toBe(Math.max(a, b))
      }),
      { numRuns: 1_000 },
    )
  })

  it("sums nothing to zero", () => {
    expect(Sats.sumBounded([])).toBe(0)
    expect(Sats.sumBounded([Sats.make(1), Sats.make(2)])).toBe(3)
  })

  it("turns computed values into amounts, and minus zero into zero", () => {
    expect(Sats.make(-0)).toBe(0)
    for (const bad of [-1, 0.5, Number.NaN, Sats.MAX_SUPPLY + 1, 2 ** 53])
      expect(() => Sats.make(bad)).toThrow(RangeError)
  })
})

describe("an amount in JSON", () => {
  const decode = Schema.decodeUnknownEither(Sats.schema)

  it("is an integer from 0 to the maximum supply", () => {
    for (const amount of [0, 1, Sats.MAX_SUPPLY]) expect(decode(amount)).toStrictEqual(Either.right(amount))
  })

  it.each([-1, -0, 0.5, "5", 5n, null, true, Number.NaN, Infinity, Sats.MAX_SUPPLY + 1, 2 ** 53, [1]])(
    "is not %s",
    (value) => {
      expect(Either.isLeft(decode(value))).toBe(true)
    },
  )

  it("states its bounds in a refusal", () => {
    expect(String(Either.merge(decode(-1)))).toContain("an integer number of sats from 0 to 2100000000000000")
  })
})

describe("a part of integers of any size", () => {
  it("is rounded down or up, and is exact where nothing is left", () => {
    const large = 10n ** 30n
    expect([Sats.mulDivBigint(7n, 3n, 2n), Sats.mulDivBigintUp(7n, 3n, 2n)]).toEqual([10n, 11n])
    expect([Sats.mulDivBigint(8n, 3n, 2n), Sats.mulDivBigintUp(8n, 3n, 2n)]).toEqual([12n, 12n])
    expect([Sats.mulDivBigint(large, large, 3n), Sats.mulDivBigintUp(large, large, 3n)]).toEqual([
      (large * large - 1n) / 3n,
      (large * large + 2n) / 3n,
    ])
    expect([Sats.mulDivBigint(0n, 5n, 7n), Sats.mulDivBigintUp(0n, 5n, 7n)]).toEqual([0n, 0n])
  })
})
