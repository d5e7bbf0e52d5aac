/** `docs/performance.md`, made of what was measured last. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Figure } from "./Harness.js"
import type { Record, SuiteRecord } from "./Record.js"
import { type Target, targets } from "./Targets.js"

const FILE = join(import.meta.dirname, "..", "docs", "performance.md")
const TEXT = join(import.meta.dirname, "performance.md")

const shown = (value: number): string =>
  !Number.isFinite(value)
    ? "∞"
    : Math.abs(value) < 1_000
      ? String(Number(value.toPrecision(3)))
      : Math.round(value).toLocaleString("en").replaceAll(",", " ")

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const all = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")))
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) =>
    `| ${widths.map((width, i) => (row[i] ?? "").padEnd(width)).join(" | ")} |`
  const [first = [], ...rest] = all
  return [line(first), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest.map(line)].join("\n")
}

const rowOf = ({ name, value, unit }: Figure): ReadonlyArray<string> => [name, shown(value), unit]

const targetRow = (record: Record, { what, target, suite, of, isMet }: Target): ReadonlyArray<string> => {
  const found = record.suites[suite]
  if (found === undefined) return [what, target, "not measured yet", "open"]
  const measured = of((name, unit) => {
    const figure = found.figures.find((one) => one.name === name && (unit === undefined || one.unit.includes(unit)))
    if (figure === undefined)
      throw new Error(`bench: ${suite} measured no "${name}", which the target "${what}" is about`)
    return figure
  }, found.figures)
  // JSON knows no infinity and writes null in its place.
  const value = measured ?? Number.POSITIVE_INFINITY
  return [what, target, shown(value), isMet(value) ? "met" : "**missed**"]
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

const withheldIn = ({ withheld }: SuiteRecord): string =>
  withheld === undefined ? "" : ` The host withheld ${Math.round(withheld * 100)} % of the processor time.`

const runsOf = (suite: SuiteRecord): string => (suite.runs === undefined ? "" : ` Medians of ${suite.runs} runs.`)

const text = (record: Record): string => {
  const parts: { readonly [part: string]: string } = {
    machine: table(["a second, while the suites ran", "least", "median", "most"], machineRows(record)),
    where: `Measured with Node ${record.node} on ${record.cores} cores, ${record.architecture}.`,
    targets: table(
      ["what", "target", "measured", "so"],
      targets.map((target) => targetRow(record, target)),
    ),
    suites: Object.entries(record.suites)
      .map(
        ([name, suite]) =>
          `### ${name}\n\n\`npm run bench -- ${name}\`: ${suite.about}.${runsOf(suite)}${withheldIn(suite)}\n\n${table(["what", "figure", "unit"], suite.figures.map(rowOf))}`,
      )
      .join("\n\n"),
  }
  return `${readFileSync(TEXT, "utf8")
    .replace(/^<!-- (\w+) -->$/gm, (line, part: string) => parts[part] ?? line)
    .trimEnd()}\n`
}

export const write = (record: Record): void => writeFileSync(FILE, text(record))

/** Whether the page says what was measured. */
export const isTrue = (record: Record): boolean => readFileSync(FILE, "utf8") === text(record)
