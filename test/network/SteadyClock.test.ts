import { expect, it } from "vitest"
import * as SteadyClock from "../../src/network/SteadyClock.js"
import * as Counter from "../../src/protocol/Counter.js"

it("shows times that can stand in records of peers: whole milliseconds, near the wall clock when the process begins", () => {
  for (let n = 0; n < 1_000; n++) expect(Counter.isCounter(SteadyClock.now())).toBe(true)
  expect(Math.abs(SteadyClock.now() - Date.now())).toBeLessThan(60_000)
})
