import { describe, expect, it } from "vitest"

describe("the event loop, between two tests that wait for nothing,", () => {
  let turns = 0

  it("is given work", () => {
    setImmediate(() => turns++)
    expect(turns).toBe(0)
  })

  it("gets a turn", () => {
    expect(turns).toBe(1)
  })
})
