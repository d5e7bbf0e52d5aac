/** Whether the tests can fail: rules are broken one at a time, and the random lives must notice. */
import { rmSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Bundle from "../support/Bundle.js"
import * as Chosen from "../support/Chosen.js"
import * as Rest from "../support/Rest.js"
import { conservation, fairness } from "./Mutations.js"
import type * as Play from "./Play.js"

/** Those that npm test looks for; almost any life shows them. */
const USUAL: ReadonlySet<string> = new Set([
  "a fee is paid to nobody",
  "a reward is not counted as minted",
  "a stake costs nothing",
  "no commission is taken",
  "nonces may be skipped",
])

const namesOf = (rules: ReadonlyArray<{ readonly name: string }>, isUsual: boolean): ReadonlyArray<string> =>
  rules.map(({ name }) => name).filter((name) => USUAL.has(name) === isUsual)

const FILE = `ledger-mutants-${process.pid}.mjs`

const draw = { seed: 20_260_360, count: 100, length: 200 }

describe("detection of a broken rule", { timeout: 300_000 }, () => {
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
    const isNoticed = (name: string): void => {
      Chosen.choose(name)
      expect(mutants.firstFailure(draw, mutants.playCounting)?.message).toMatch(
        /totals|recount|add up|supply|shares|sats/,
      )
    }

    it.each(namesOf(conservation, true))("%s", isNoticed)
    it.each(namesOf(conservation, false))(Rest.of("many lives", "%s"), isNoticed)
  })

  describe("by the naive ledger", () => {
    const isNoticed = (name: string): void => {
      Chosen.choose(name)
      expect(mutants.firstFailure(draw, mutants.play)?.message).toBeDefined()
    }

    it.each(namesOf(fairness, true))("%s", isNoticed)
    it.each(namesOf(fairness, false))(Rest.of("many lives", "%s"), isNoticed)
  })

  const nothingIs = (lives: number): void => {
    expect(mutants.firstFailure({ ...draw, count: lives }, mutants.play)).toBeUndefined()
  }

  it("finds nothing without one", () => nothingIs(1))
  it(Rest.of("more lives", "finds nothing without one, in ten lives"), () => nothingIs(10))
})
