// `npm run bench`: runs every suite except the long ones and writes results/latest.json, from which docs/performance.md
// is made. `npm run bench -- solo rpc` runs and records only these suites. `npm run bench -- solo/final` prints only
// figures of solo with "final" in their names. UDG_BENCH_RUNS=3 runs each scenario three times and takes the medians.
import { readdirSync } from "node:fs"
import process from "node:process"
import { type Figure, mediansOf, type Suite, tableOfFigures } from "./Harness.js"
import * as Page from "./Page.js"
import { withheldSinceNow } from "./ProcessorTime.js"
import * as Record from "./Record.js"
import * as Yardstick from "./Yardstick.js"

const RUNS = Number(process.env["UDG_BENCH_RUNS"] ?? 1)

const wishes = process.argv.slice(2).map((word) => {
  const [name = "", filter] = word.split("/")
  return { name, filter }
})

const suites = readdirSync(import.meta.dirname)
  .filter((file) => /^[a-z][A-Za-z]*\.ts$/.test(file) && file !== "main.ts")
  .map((file) => file.slice(0, -".ts".length))
  .sort()

for (const { name } of wishes) {
  if (suites.includes(name)) continue
  console.error(`bench: no suite "${name}"; there are: ${suites.join(", ")}`)
  process.exit(1)
}

const show = (title: string, figures: ReadonlyArray<Figure>): void =>
  console.log(`\n${title}\n\n${tableOfFigures(figures)}`)

const measured = async (suite: Suite, filter: string): Promise<Record.Measured> => {
  const runs: Array<ReadonlyArray<Figure>> = []
  for (let run = 0; run < RUNS; run++) {
    runs.push((await suite.figures()).filter(({ name }) => name.includes(filter)))
    if (RUNS > 1) show(`run ${run + 1} of ${RUNS}`, runs.at(-1) ?? [])
  }
  return { figures: mediansOf(runs), ...(RUNS > 1 && { runs: RUNS }) }
}

for (const { name, filter } of wishes.length > 0 ? wishes : suites.map((name) => ({ name, filter: undefined }))) {
  const { suite } = (await import(`./${name}.js`)) as { readonly suite: Suite }
  if (suite.isLong === true && wishes.length === 0) continue
  const machine: ReadonlyArray<Figure> = filter === undefined ? await Yardstick.measureMachine() : []
  if (filter === undefined) show("the machine, without this program", machine)
  const withheldSince = withheldSinceNow()
  const result = await measured(suite, filter ?? "")
  const withheld = withheldSince()
  show(`${name}: ${suite.about}`, result.figures)
  console.log(`\nthe host withheld ${Math.round(withheld * 100)} % of the processors' time`)
  // After each suite, so that a failing one does not lose earlier results.
  if (filter === undefined) Record.keep({ [name]: { about: suite.about, machine, withheld, ...result } })
}

Page.write(Record.read())
