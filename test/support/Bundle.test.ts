import { rmSync } from "node:fs"
import { afterAll, describe, expect, it } from "vitest"
import type * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Bundle from "./Bundle.js"
import type { Change } from "./Planting.js"

const outfile = `bundle-test-${process.pid}.mjs`
const made: Array<string> = []

const bundle = async (change: Change): Promise<typeof Sats> => {
  const fault = { name: "generous", changes: [change] }
  const path = await Bundle.make({ entry: "src/protocol/numbers/Sats.ts", outfile, fault, arePackagesExternal: true })
  made.push(path)
  return import(path)
}

afterAll(() => {
  for (const path of made) rmSync(path, { force: true })
})

describe("a bundle with a fault", () => {
  it("behaves as the fault defines", async () => {
    const { make, percent } = await bundle({ file: "src/protocol/numbers/Sats.ts", of: "percent", by: "(of) => of" })
    expect(percent(make(50), 10)).toBe(50)
  })

  it("fails when the program does not contain the file", async () => {
    await expect(bundle({ file: "src/ledger/Ledger.ts", of: "Ledger.read", by: "() => {}" })).rejects.toThrow(
      'fault "generous": the program does not contain src/ledger/Ledger.ts',
    )
  })
})
