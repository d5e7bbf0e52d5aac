/** Whether the tests could fail: rules are broken one at a time, and the random lives have to notice. */
import { rmSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Bundle from "../support/Bundle.js"
import * as Chosen from "../support/Chosen.js"
import { conservation, fairness } from "./Mutations.js"
import type * as Play from "./Play.js"

const FILE = `ledger-mutants-${process.pid}.mjs`

const draw = { seed: 20_260_360, count: 100, length: 200 }

describe("a broken rule is noticed", { timeout: 300_000 }, () => {
  let path = ""
  let mutants: typeof Play

  // All in one program, of which each case chooses one.
  beforeAll(async () => {
    path = await Bundle.make({
      entry: "test/ledger/Play.ts",
      outfile: FILE,
      choice: [...conservation, ...fairness],
      arePackagesExternal: true,
    })
    mutants = await import(pathToFileURL(path).href)
  })
  afterEach(() => Chosen.choose(undefined))
  afterAll(() => rmSync(path, { force: true }))

  describe("by the running totals or the recount alone", () => {
    it.each(conservation.map(({ name }) => name))("%s", (name) => {
      Chosen.choose(name)
      expect(mutants.firstFailure(draw, mutants.playCounting)?.message).toMatch(
        /totals|recount|add up|supply|shares|sats/,
      )
    })
  })

  describe("by the naive ledger", () => {
    it.each(fairness.map(({ name }) => name))("%s", (name) => {
      Chosen.choose(name)
      expect(mutants.firstFailure(draw, mutants.play)?.message).toBeDefined()
    })
  })

  it("and without one nothing is", () => {
    expect(mutants.firstFailure({ ...draw, count: 10 }, mutants.play)).toBeUndefined()
  })
})
