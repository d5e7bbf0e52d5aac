import { describe, expect, it } from "vitest"

describe("between two tests that wait for nothing", () => {
  let turns = 0

  it("the event loop", () => {
    setImmediate(() => turns++)
    expect(turns).toBe(0)
  })

  it("gets a turn", () => {
    expect(turns).toBe(1)
  })
})
