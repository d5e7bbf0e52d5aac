/** `npm run simulate`: one seed or many, with faults in the world and, if asked for, one planted in the program. */
import { parseArgs } from "node:util"
import * as Bundle from "./Bundle.js"
import * as Planted from "./Planted.js"
import * as Replay from "./Replay.js"
import { type Options, optionsOf, type Report } from "./Simulation.js"
import { FAULTS, type FaultName, isFaultName } from "./Storm.js"
import * as Sweep from "./Sweep.js"

const usage = `npm run simulate -- [--seed S] [--sweep N] [--nodes N] [--rounds R] [--faults F,F,…] [--plant NAME] [--trace]
  --seed    the run, or the first one of a sweep; 1 unless told
  --sweep   as many runs, one seed after the other, on all cores; prints the failures
  --faults  of ${FAULTS.join(", ")}; all; none. Unless told, each seed draws its own mixture
  --plant   a fault to put into the program: ${Planted.faults.map(({ name }) => name).join(", ")}`

const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const stop = (text: string): never => {
  process.stderr.write(`${text}\n`)
  process.exit(2)
}

const numberOf = (name: string, text: string): number => {
  const value = Number(text)
  return Number.isSafeInteger(value) && value >= 0 ? value : stop(`--${name} ${text}: a number expected`)
}

const faultsOf = (text: string): ReadonlyArray<FaultName> => {
  if (text === "all") return FAULTS
  if (text === "none") return []
  return text.split(",").map((name) => (isFaultName(name) ? name : stop(`--faults ${name}: no such fault\n${usage}`)))
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    sweep: { type: "string", default: "1" },
    nodes: { type: "string", default: "7" },
    rounds: { type: "string", default: "150" },
    faults: { type: "string" },
    plant: { type: "string" },
    help: { type: "boolean", default: false },
  },
})

if (values.help) {
  print(usage)
  process.exit(0)
}

const planted = values.plant === undefined ? null : (Planted.named(values.plant) ?? stop(usage))
const first = numberOf("seed", values.seed)
const count = numberOf("sweep", values.sweep)
const faults = values.faults === undefined ? undefined : faultsOf(values.faults)
const all: ReadonlyArray<Options> = Array.from({ length: count }, (_, i) =>
  optionsOf(first + i, numberOf("nodes", values.nodes), numberOf("rounds", values.rounds), faults),
)

const reports: Array<Report> = []
const startedAt = performance.now()
await Sweep.run(await Bundle.make(planted), all, (report) => {
  reports.push(report)
  const options = all.find(({ seed }) => seed === report.seed)
  if (report.failure !== null && options !== undefined) {
    print(`\nseed ${report.seed}: ${Replay.failure(options, report, values.plant)}`)
  }
  return true
})

const seconds = (performance.now() - startedAt) / 1_000
const sum = (of: (report: Report) => number): number => reports.reduce((total, report) => total + of(report), 0)
const failed = reports.filter(({ failure }) => failure !== null).map(({ seed }) => seed)
const [only] = reports
if (reports.length === 1 && only !== undefined) {
  const { digest, rounds, commits, epochs, messages, transactions } = only
  print(
    `digest ${digest}: round ${rounds}, ${commits} commits, ${epochs} epochs, ${messages} messages, ${transactions} transactions`,
  )
}
print(
  `${reports.length} runs in ${seconds.toFixed(1)} s, ${(reports.length / seconds).toFixed(1)} a second, ` +
    `${(sum(({ virtualMs }) => virtualMs) / 1_000 / seconds).toFixed(0)} times as fast as time; ` +
    `${sum(({ commits }) => commits)} commits, ${sum(({ messages }) => messages)} messages; ` +
    (failed.length === 0 ? "no failure" : `failed: ${failed.join(" ")}`),
)
process.exitCode = failed.length === 0 ? 0 : 1
