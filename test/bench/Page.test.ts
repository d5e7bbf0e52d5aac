import { describe, expect, it } from "vitest"
import { headlines } from "../../bench/Headlines.js"
import * as Page from "../../bench/Page.js"
import * as Record from "../../bench/Record.js"
import { targets } from "../../bench/Targets.js"

const MACHINE = { node: "v20.20.2", cores: 2, architecture: "x64" }
const UNIT = "µs a transfer"

const suite = (
  ...figures: ReadonlyArray<readonly [name: string, value: number, unit: string]>
): Record.SuiteRecord => ({
  about: "a test",
  machine: [],
  figures: figures.map(([name, value, unit]) => ({ name, value, unit })),
})

/** The cells of the row with this title in its first or second cell. */
const cellsOf = (page: string, title: string): ReadonlyArray<string> | undefined =>
  page
    .split("\n")
    .map((line) => line.split(/ {2,}/))
    .find(([first, second]) => first === title || second === title)

/** Shown by docs/operations/sizing.md. */
const OF_SIZING = ["archive", "sizing"]

describe("the page of figures", () => {
  it("shows a target or another figure of every suite that was measured", () => {
    const shown = new Set([...[...targets, ...headlines].map(({ suite }) => suite), ...OF_SIZING])
    expect(Object.keys(Record.read().suites).filter((name) => !shown.has(name))).toEqual([])
  })

  it.each([
    [0.9, "0.9"],
    [0.5, "0.5, missed"],
  ])("marks a figure that misses its target: %d for at least 0.8", (value, measured) => {
    const signatures = suite(["in the node's threads, of that", value, "share"])
    const page = Page.text({ ...MACHINE, suites: { signatures } })
    const what = "signature checks in threads, relative to the cores alone"
    expect(cellsOf(page, what)).toEqual(["signatures", what, "≥ 0.8", measured])
    expect(cellsOf(page, "start with 1 000 000 accounts")?.slice(3)).toEqual(["not measured yet"])
  })

  it("judges several reads by the slowest", () => {
    const other = targets.find(({ what }) => what.startsWith("the slowest of four"))
    const shares = [0.9, 0.1, 0.8, 0.7].entries()
    const find = (name: string) => ({ name, value: shares.next().value?.[1] ?? 0, unit: "share" })
    expect(other?.of(find, [])).toBe(0.1)
  })

  it("adds up the small parts of a transfer, and omits whole threads", () => {
    const cost = suite(
      ...["solo, arrays of 100", "solo, one a request", "four validators, one a request"].flatMap(
        (load): ReadonlyArray<readonly [string, number, string]> => [
          [`${load}: K`, 2, "signatures"],
          [`${load}: processor`, 99, UNIT],
          [`${load}: between them`, 1_000, "bytes a transfer"],
          [`${load}: with the profiler`, 100, UNIT],
          [`${load}: thread main`, 90, UNIT],
          [`${load}: mempool`, load.startsWith("four") ? 70 : 4, UNIT],
          [`${load}: trie`, 3, UNIT],
          [`${load}: rows`, 2, UNIT],
        ],
      ),
    )
    const page = Page.text({ ...MACHINE, suites: { cost } })
    const table = page.slice(page.indexOf("## Where the time goes"))
    expect(cellsOf(table, "mempool")).toEqual(["mempool", "4", "4", "70"])
    expect(cellsOf(table, "the rest")).toEqual(["the rest", "5", "5", "5"])
    expect(cellsOf(table, "all, profiler included")).toEqual(["all, profiler included", "100", "100", "100"])
    for (const left of ["trie", "thread main", "processor"]) expect(cellsOf(table, left)).toBeUndefined()
  })

  it("names the suites in which the host withheld processor time", () => {
    const of = (withheld: number) =>
      Page.text({ ...MACHINE, suites: { edge: { ...suite(), figures: edge, withheld } } })
    const edge = headlines.filter(({ suite }) => suite === "edge").map(({ name }) => ({ name, value: 1, unit: "µs" }))
    expect(of(0.22)).toContain("22 % in `edge`")
    expect(of(0.001)).toContain("withheld no processor time")
  })

  it("refuses a record that lacks a figure it shows", () => {
    expect(() => Page.text({ ...MACHINE, suites: { edge: suite() } })).toThrow("edge measured no")
  })
})
