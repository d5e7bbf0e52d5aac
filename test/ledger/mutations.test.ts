/** Whether the tests could fail: rules are broken one at a time, and the random lives have to notice. */
import { rmSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import * as Bundle from "../support/Bundle.js"
import type { Fault } from "../support/Planting.js"
import { conservation, fairness } from "./Mutations.js"
import type * as Play from "./Play.js"

const bundles: Array<string> = []

/** The random lives, against a ledger with one rule broken. */
const mutant = async (fault: Fault | null): Promise<typeof Play> => {
  const outfile = `mutants/${fault?.name.replaceAll(/\W+/g, "-")}-${process.pid}.mjs`
  const program = { entry: "test/ledger/Play.ts", outfile, fault, arePackagesExternal: true }
  const path = await Bundle.make(program)
  bundles.push(path)
  return import(pathToFileURL(path).href)
}

const draw = { seed: 20_260_303, count: 60, length: 200 }

describe("a broken rule is noticed", { timeout: 300_000 }, () => {
  afterAll(() => {
    for (const bundle of bundles) rmSync(bundle, { force: true })
  })

  describe("by the running totals or the recount alone", () => {
    it.each(conservation.map((fault) => [fault.name, fault] as const))("%s", async (_, fault) => {
      const { firstFailure, playCounting } = await mutant(fault)
      expect(firstFailure(draw, playCounting)?.message).toMatch(/totals|recount|add up|supply|shares|sats/)
    })
  })

  describe("by the naive ledger", () => {
    it.each(fairness.map((fault) => [fault.name, fault] as const))("%s", async (_, fault) => {
      const { firstFailure, play } = await mutant(fault)
      expect(firstFailure(draw, play)?.message).toBeDefined()
    })
  })

  it("and without a mutation nothing is", async () => {
    const { firstFailure, play } = await mutant(null)
    expect(firstFailure({ ...draw, count: 10 }, play)).toBeUndefined()
  })
})
