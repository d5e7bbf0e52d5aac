/** Whether the consensus keeps its promises on every DAG of a few rounds, and whether the search for one could fail. */
import { rmSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import * as Bundle from "../../support/Bundle.js"
import type { Fault } from "../../support/Planting.js"
import { faults } from "./Faults.js"
import type * as Search from "./Search.js"
import { search } from "./Search.js"

/** Each round more takes some fifteen times as long: docs/simulation.md has the figures. */
const ROUNDS = Number(process.env["UDG_SMALL_DAG_ROUNDS"] ?? 6)
const HOURS = 3_600_000

const report = ({ failure, dags, ...counts }: Search.Report): void => {
  expect(failure).toBeNull()
  // The same numbers from counting sets of parents, without classes.
  expect(dags.slice(0, 3)).toEqual([23, 125_432, 1_844_185_581])
  const figures = { rounds: dags.length, ...counts, dags: dags[dags.length - 1]?.toPrecision(2) }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

describe("on every small DAG", { timeout: 24 * HOURS }, () => {
  it("no vertex that comes late changes a verdict or the order, and calm rounds decide all", () => {
    report(search({ rounds: ROUNDS, older: 1, closes: false }))
  })

  // Whole members cost more, and the calm rounds lead to a close from anywhere: a round less is enough.
  it("all members close the epoch with the same commit, and go on together", () => {
    report(search({ rounds: ROUNDS - 1, older: 1, closes: true }))
  })
})

describe("a planted fault is found", { timeout: HOURS }, () => {
  const bundles: Array<string> = []

  afterAll(() => {
    for (const bundle of bundles) rmSync(bundle, { force: true })
  })

  /** The search through a program with one rule broken. */
  const broken = async (fault: Fault): Promise<typeof Search> => {
    const outfile = `small/${fault.name}-${process.pid}.mjs`
    const program = { entry: "test/consensus/small/Search.ts", outfile, fault, arePackagesExternal: true }
    const path = await Bundle.make(program)
    bundles.push(path)
    return import(pathToFileURL(path).href)
  }

  it.each(faults.filter(({ rounds }) => rounds <= ROUNDS).map((fault) => [fault.name, fault] as const))(
    "%s",
    async (_, fault) => {
      const program = await broken(fault)
      expect(program.search({ rounds: fault.rounds, older: 0, closes: fault.closes === true }).failure).not.toBeNull()
    },
  )
})
