/** Whether the tests can fail: rules are broken one at a time, and the random lives must notice. */
import { rmSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Bundle from "../support/Bundle.js"
import * as Chosen from "../support/Chosen.js"
import * as Rest from "../support/Rest.js"
import { conservation, fairness } from "./Mutations.js"
import type * as Play from "./Play.js"

/** Lives in which these show take long. */
const SLOW: ReadonlySet<string> = new Set([
  "a bond comes back only to who wins",
  "the treasury pays and keeps",
  "one equivocation is punished twice",
  "a deposit is taken whole, whatever its shares cost",
  "the treasury's share is lost",
])

const namesOf = (rules: ReadonlyArray<{ readonly name: string }>, isSlow: boolean): ReadonlyArray<string> =>
  rules.map(({ name }) => name).filter((name) => SLOW.has(name) === isSlow)

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

    it.each(namesOf(conservation, false))("%s", isNoticed)
    it.each(namesOf(conservation, true))(Rest.of("many lives", "%s"), isNoticed)
  })

  describe("by the naive ledger", () => {
    const isNoticed = (name: string): void => {
      Chosen.choose(name)
      expect(mutants.firstFailure(draw, mutants.play)?.message).toBeDefined()
    }

    it.each(namesOf(fairness, false))("%s", isNoticed)
    it.each(namesOf(fairness, true))(Rest.of("many lives", "%s"), isNoticed)
  })

  const nothingIs = (lives: number): void => {
    expect(mutants.firstFailure({ ...draw, count: lives }, mutants.play)).toBeUndefined()
  }

  it("finds nothing without one", () => nothingIs(1))
  it(Rest.of("more lives", "finds nothing without one, in ten lives"), () => nothingIs(10))
})
