/** Generates `docs/performance.md` from the last measurements. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Headline, headlines } from "./Headlines.js"
import type { Record } from "./Record.js"
import { type Target, targets } from "./Targets.js"

const FILE = join(import.meta.dirname, "..", "docs", "performance.md")
const TEXT = join(import.meta.dirname, "performance.md")

const shown = (value: number): string =>
  !Number.isFinite(value)
    ? "∞"
    : Math.abs(value) < 1_000
      ? String(Number(value.toPrecision(3)))
      : Math.round(value).toLocaleString("en").replaceAll(",", " ")

/** Aligned columns, two spaces apart, in a block of their own. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const all = [head, ...rows]
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  const lines = all.map((row) =>
    widths
      .map((width, i) => (row[i] ?? "").padEnd(width))
      .join("  ")
      .trimEnd(),
  )
  return ["```", ...lines, "```"].join("\n")
}

const targetRow = (record: Record, { what, target, suite, of, isMet }: Target): ReadonlyArray<string> => {
  const found = record.suites[suite]
  if (found === undefined) return [suite, what, target, "not measured yet"]
  const measured = of((name, unit) => {
    const figure = found.figures.find((one) => one.name === name && (unit === undefined || one.unit.includes(unit)))
    if (figure === undefined)
      throw new Error(`bench: ${suite} measured no "${name}", which the target "${what}" is about`)
    return figure
  }, found.figures)
  // JSON has no infinity and contains null instead.
  const value = measured ?? Number.POSITIVE_INFINITY
  return [suite, what, target, isMet(value) ? shown(value) : `${shown(value)}, missed`]
}

const machineRows = (record: Record): ReadonlyArray<ReadonlyArray<string>> => {
  const names = [...new Set(Object.values(record.suites).flatMap(({ machine }) => machine.map(({ name }) => name)))]
  return names.map((name) => {
    const values = Object.values(record.suites)
      .flatMap(({ machine }) => machine.filter((figure) => figure.name === name).map(({ value }) => value))
      .sort((a, b) => a - b)
    return [name, ...[values[0], values[values.length >> 1], values.at(-1)].map((value) => shown(value ?? Number.NaN))]
  })
}

const WITHHELD_WORTH_SAYING = 0.01

/** A host that gives processor time to other guests makes the program look slower than it is. */
const withheldIn = (record: Record): string => {
  const shares = Object.entries(record.suites).flatMap(([name, { withheld = 0 }]) =>
    withheld < WITHHELD_WORTH_SAYING ? [] : [`${Math.round(withheld * 100)} % in \`${name}\``],
  )
  return shares.length === 0
    ? "The host withheld no processor time."
    : `The host gave processor time to other guests, so some figures understate the program: ${shares.join(", ")}.`
}

const headlineRow = (record: Record, { suite, name }: Headline): ReadonlyArray<ReadonlyArray<string>> => {
  const found = record.suites[suite]
  if (found === undefined) return []
  const figure = found.figures.find((one) => one.name === name)
  if (figure === undefined) throw new Error(`bench: ${suite} measured no "${name}", which the page shows`)
  return [[suite, name, shown(figure.value), figure.unit]]
}

const SMALL_US = 5
const ALL = "with the profiler"

/** The parts of a transfer under each load, largest first, with small ones combined. */
const partsTable = (record: Record): string => {
  const figures = record.suites["cost"]?.figures ?? []
  const loads = figures.flatMap(({ name }) => (name.endsWith(": K") ? [name.slice(0, -": K".length)] : []))
  const columns = loads.map((load) => {
    const of = figures.filter(({ name, unit }) => name.startsWith(`${load}: `) && unit === "µs a transfer")
    return new Map(of.map(({ name, value }) => [name.slice(load.length + 2), value]))
  })
  const most = (part: string): number => Math.max(...columns.map((column) => column.get(part) ?? 0))
  const parts = [...new Set(columns.flatMap((column) => [...column.keys()]))]
    .filter((part) => part !== ALL && part !== "processor" && !part.startsWith("thread "))
    .sort((a, b) => most(b) - most(a))
  const large = parts.filter((part) => most(part) >= SMALL_US)
  const rest = columns.map((column) =>
    parts.filter((part) => !large.includes(part)).reduce((sum, part) => sum + (column.get(part) ?? 0), 0),
  )
  const row = (title: string, values: ReadonlyArray<number | undefined>): ReadonlyArray<string> => [
    title,
    ...values.map((value) => (value === undefined ? "" : String(Math.round(value)))),
  ]
  return table(
    ["part", ...loads],
    [
      ...large.map((part) =>
        row(
          part,
          columns.map((column) => column.get(part)),
        ),
      ),
      row("the rest", rest),
      row(
        "all, profiler included",
        columns.map((column) => column.get(ALL)),
      ),
    ],
  )
}

export const text = (record: Record): string => {
  const parts: { readonly [part: string]: string } = {
    machine: table(["a second, while the suites ran", "least", "median", "most"], machineRows(record)),
    where: `Measured with Node ${record.node} on ${record.cores} cores, ${record.architecture}.`,
    withheld: withheldIn(record),
    targets: table(
      ["suite", "what", "target", "measured"],
      targets.map((target) => targetRow(record, target)),
    ),
    parts: partsTable(record),
    headlines: table(
      ["suite", "what", "figure", "unit"],
      headlines.flatMap((headline) => headlineRow(record, headline)),
    ),
  }
  return `${readFileSync(TEXT, "utf8")
    .replace(/^<!-- (\w+) -->$/gm, (line, part: string) => parts[part] ?? line)
    .trimEnd()}\n`
}

export const write = (record: Record): void => writeFileSync(FILE, text(record))

/** Whether the page matches the measurements. */
export const isTrue = (record: Record): boolean => readFileSync(FILE, "utf8") === text(record)
