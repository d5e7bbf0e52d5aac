import { describe, expect, it } from "@effect/vitest"
import { Cause, Exit, FiberId } from "effect"
import * as Udg from "../../src/cli/Udg.js"

describe("the exit code", () => {
  it("is what the program said", () => {
    expect([0, 1, 100].map((code) => Udg.exitCode(Exit.succeed(code)))).toEqual([0, 1, 100])
  })

  it("is 0 when a signal asked it to stop", () => {
    expect(Udg.exitCode(Exit.failCause(Cause.interrupt(FiberId.none)))).toBe(0)
  })

  it("is 1 when it died", () => {
    expect(Udg.exitCode(Exit.die("a bug"))).toBe(1)
  })
})
