import { describe, expect, it } from "@effect/vitest"
import { Cause, Exit, FiberId } from "effect"
import * as Udg from "../../src/cli/Udg.js"

const codeOf = async (exit: Exit.Exit<number>, ...words: ReadonlyArray<string>) =>
  Udg.exitCode(exit, await Udg.find("0.0.0", words))

describe("the exit code", () => {
  it("is the program's own", async () => {
    expect(await Promise.all([0, 1, 100].map((code) => codeOf(Exit.succeed(code))))).toEqual([0, 1, 100])
  })

  it("is 0 when a signal stopped a node, its normal end, and 130 when something was interrupted", async () => {
    const interrupted = (...words: ReadonlyArray<string>) =>
      codeOf(Exit.failCause(Cause.interrupt(FiberId.none)), ...words)
    expect([await interrupted(), await interrupted("--port", "0"), await interrupted("localnet")]).toEqual([0, 0, 0])
    expect([await interrupted("send", "@bob", "1"), await interrupted("db", "import")]).toEqual([130, 130])
  })

  it("is 1 after a crash", async () => {
    expect(await codeOf(Exit.die("a bug"))).toBe(1)
  })
})
