import { expect, it } from "vitest"
import * as Content from "../../src/edge/server/Content.js"

const written = (value: unknown): string => String(Content.json(value).body)

it.each([
  [1, "0.00000001"],
  [10, "0.0000001"],
  [99, "0.00000099"],
  [100, "0.000001"],
  [100_000_001, "1.00000001"],
  [2_100_000_000_000_000, "21000000"],
])("%d sats in coins are %s, without an exponent", (sats, coins) => {
  expect(written({ balance_coin: sats / 1e8 })).toBe(`{"balance_coin":${coins}}`)
})

it("leaves plain texts that resemble them unchanged", () => {
  const value = { memo: '"a_coin":6e-8', list: [{ amount_coin: 6e-8 }], latency_ms: 6e-8 }
  expect(JSON.parse(written(value))).toEqual(value)
  expect(written(value)).toContain(String.raw`\"a_coin\":6e-8`)
})
