import { rmSync } from "node:fs"
import { afterAll, describe, expect, it } from "vitest"
import type * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Bundle from "./Bundle.js"

const outfile = `bundle-test-${process.pid}.mjs`
const made: Array<string> = []

const bundle = async (change: Bundle.Change): Promise<typeof Sats> => {
  const path = await Bundle.make({
    entry: "src/protocol/numbers/Sats.ts",
    outfile,
    changes: [change],
    arePackagesExternal: true,
  })
  made.push(path)
  return import(path)
}

afterAll(() => {
  for (const path of made) rmSync(path, { force: true })
})

describe("a bundle with a changed line", () => {
  it("does what the change says", async () => {
    const change = { file: "protocol/numbers/Sats.ts", line: "SATS_PER_COIN = 100_000_000", by: "SATS_PER_COIN = 7" }
    expect((await bundle(change)).SATS_PER_COIN).toBe(7)
  })

  it("fails when the line is gone", async () => {
    const change = { file: "protocol/numbers/Sats.ts", line: "no such line", by: "" }
    await expect(bundle(change)).rejects.toThrow(
      "src/protocol/numbers/Sats.ts has this line 0 times, not once: no such line",
    )
  })

  it("fails when the line occurs twice", async () => {
    await expect(bundle({ file: "protocol/numbers/Sats.ts", line: "export const", by: "const" })).rejects.toThrow(
      /has this line \d+ times/,
    )
  })

  it("fails when the program does not contain the file", async () => {
    const change = { file: "ledger/Ledger.ts", line: "export class Ledger {", by: "export class Ledger {" }
    await expect(bundle(change)).rejects.toThrow("does not contain src/ledger/Ledger.ts")
  })
})
