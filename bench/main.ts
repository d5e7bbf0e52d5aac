// `npm run bench`: every suite of this folder. `npm run bench -- protocol verify` only the cases of bench/protocol.ts
// with "verify" in their names. With --json, one object on standard output instead of tables.
import { readdirSync } from "node:fs"
import { availableParallelism } from "node:os"
import { type Figure, measure, type Result, type Suite, tableOfFigures, tableOfResults } from "./Harness.js"

const words = process.argv.slice(2)
const asJson = words.includes("--json")
const [wanted, filter = ""] = words.filter((word) => !word.startsWith("--"))

const suites = readdirSync(import.meta.dirname)
  .filter((file) => /^[a-z][A-Za-z]*\.ts$/.test(file) && file !== "main.ts")
  .map((file) => file.slice(0, -".ts".length))
  .sort()

if (wanted !== undefined && !suites.includes(wanted)) {
  console.error(`bench: no suite "${wanted}"; there are: ${suites.join(", ")}`)
  process.exit(1)
}

const machine = { node: process.version, cores: availableParallelism(), architecture: process.arch }
const measured: Record<string, ReadonlyArray<Result> | ReadonlyArray<Figure>> = {}

for (const name of wanted === undefined ? suites : [wanted]) {
  const { suite } = (await import(`./${name}.js`)) as { readonly suite?: Suite }
  // A file without a suite measures and prints when it is loaded; it has no part in --json.
  if (suite === undefined) continue
  if (!asJson) console.log(`\n${name}: ${suite.about}\n`)
  if ("figures" in suite) {
    const figures = (await suite.figures()).filter((figure) => figure.name.includes(filter))
    measured[name] = figures
    if (!asJson) console.log(tableOfFigures(figures))
  } else {
    const results: Array<Result> = []
    for (const one of await suite.cases()) if (one.name.includes(filter)) results.push(await measure(one))
    measured[name] = results
    if (!asJson) console.log(tableOfResults(results))
  }
}

if (asJson) console.log(JSON.stringify({ machine, suites: measured }, null, 2))
