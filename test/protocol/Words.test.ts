import { expect, it } from "vitest"
import * as Words from "../../src/protocol/numbers/Words.js"

it("figures in messages agree with their nouns, and amounts come in coins and in sats", () => {
  expect([0, 1, 2].map((count) => Words.counted(count, "request"))).toEqual(["0 requests", "1 request", "2 requests"])
  expect([1, 1_000].map(Words.amount)).toEqual(["0.00000001 UDG (1 sat)", "0.00001 UDG (1000 sats)"])
})
