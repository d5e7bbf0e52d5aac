import { describe, expect, it } from "@effect/vitest"
import { Cause, Exit, FiberId } from "effect"
import * as Udg from "../../src/cli/Udg.js"

describe("the exit code", () => {
  it("is what the program said", () => {
    expect([0, 1, 100].map((code) => Udg.exitCode(Exit.succeed(code), 0))).toEqual([0, 1, 100])
  })

  it("is 0 when a signal asked a node to stop, which is how it ends, and 130 where something was cut short", () => {
    const interrupted = Exit.failCause(Cause.interrupt(FiberId.none))
    const codeOf = (...words: ReadonlyArray<string>) => Udg.exitCode(interrupted, Udg.whenInterrupted(words))
    expect([codeOf(), codeOf("--port", "0"), codeOf("localnet")]).toEqual([0, 0, 0])
    expect([codeOf("send", "@bob", "1"), codeOf("db", "import")]).toEqual([130, 130])
  })

  it("is 1 when it died", () => {
    expect(Udg.exitCode(Exit.die("a bug"), 0)).toBe(1)
  })
})
