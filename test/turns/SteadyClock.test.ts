import { expect, it } from "vitest"
import * as SteadyClock from "../../src/turns/SteadyClock.js"

// Moments are shown as timestamps, which are whole: a fraction used to end every session as it began.
it("the steady clock shows whole milliseconds, near the wall clock's, and never goes back", () => {
  let before = 0
  for (let i = 0; i < 10_000; i++) {
    const now = SteadyClock.now()
    expect(Number.isSafeInteger(now) && now >= before).toBe(true)
    before = now
  }
  expect(Math.abs(before - Date.now())).toBeLessThan(60_000)
})
