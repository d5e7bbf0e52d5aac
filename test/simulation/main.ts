/** `npm run simulate`: runs one seed or many, with faults in the world and optionally one planted in the program. */
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import * as Bundle from "./Bundle.js"
import * as Planted from "./Planted.js"
import * as Replay from "./Replay.js"
import { type Options, optionsOf, type Report } from "./Simulation.js"
import { FAULTS, type FaultName, isFaultName } from "./Storm.js"
import * as Sweep from "./Sweep.js"

const WIDEST = Math.max(...Planted.faults.map(({ name }) => name.length))

const usage = `npm run simulate -- [--seed S] [--sweep N] [--nodes N] [--rounds R] [--faults F,F,…] [--plant NAME]
                        [--threads N] [--upgrades] [--rotations] [--signers]
  --seed    the run, or the first one of a sweep; 1 unless told
  --sweep   as many runs, one seed after the other, on all cores; prints the failures as they come
  --threads as many seeds at a time; for two sweeps side by side, or to leave cores to others
  --faults  of ${FAULTS.join(", ")}; all; none. Unless told, each seed draws its own mixture
  --upgrades the validators vote for the next version of the protocol, which some programs do not know
  --rotations the validators vote for the next version, and change their keys once it is in force
  --signers remote signers hold the keys of all validators, or of about half of them
  --plant   a fault to put into the program:
${Planted.faults.map(({ name, story }) => `            ${name.padEnd(WIDEST)}  ${story}`).join("\n")}`

const PROGRESS_EVERY_SEEDS = 100

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
    threads: { type: "string", default: String(availableParallelism()) },
    upgrades: { type: "boolean", default: false },
    rotations: { type: "boolean", default: false },
    signers: { type: "boolean", default: false },
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
const threads = Math.max(1, numberOf("threads", values.threads))
const faults = values.faults === undefined ? undefined : faultsOf(values.faults)

function* runs(): Generator<Options> {
  for (let seed = first; seed < first + count; seed++) {
    const options = optionsOf(seed, numberOf("nodes", values.nodes), numberOf("rounds", values.rounds), faults)
    const upgrades = values.upgrades || planted?.upgrades === true
    const signers = values.signers || planted?.signers === true
    yield { ...options, upgrades, rotations: values.rotations || planted?.rotations === true, signers }
  }
}

const startedAt = performance.now()
const total = { runs: 0, virtualMs: 0, commits: 0, messages: 0, rotations: 0 }
const failed: Array<Options> = []

const seconds = (): number => (performance.now() - startedAt) / 1_000

/** Prints the progress of a long sweep to standard error, so that the output has only failures. */
const tellProgress = (): void => {
  if (total.runs % PROGRESS_EVERY_SEEDS !== 0) return
  const left = ((count - total.runs) * seconds()) / total.runs / 60
  process.stderr.write(
    `${total.runs} of ${count} seeds, ${(total.runs / seconds()).toFixed(1)} a second, ` +
      `${left.toFixed(0)} min left, ${failed.length === 0 ? "no failure" : `${failed.length} failed`}\n`,
  )
}

const tellOf = ({ digest, rounds, commits, epochs, messages, transactions }: Report): void => {
  print(
    `digest ${digest}: round ${rounds}, ${commits} commits, ${epochs} epochs, ${messages} messages, ${transactions} transactions`,
  )
}

const took = (report: Report, options: Options): boolean => {
  total.runs++
  total.virtualMs += report.virtualMs
  total.commits += report.commits
  total.messages += report.messages
  total.rotations += report.rotations
  if (report.failure !== null) {
    failed.push(options)
    print(`\nseed ${report.seed}: ${Replay.failure(options, report, values.plant)}`)
  }
  if (count === 1) tellOf(report)
  tellProgress()
  return true
}

await Sweep.run(await Bundle.make(planted), runs(), took, threads)

const [lowest] = failed.sort((a, b) => a.seed - b.seed)
print(
  `${total.runs} runs in ${seconds().toFixed(1)} s, ${(total.runs / seconds()).toFixed(1)} a second, ` +
    `${(total.virtualMs / 1_000 / seconds()).toFixed(0)} times as fast as time; ` +
    `${total.commits} commits, ${total.messages} messages, ${total.rotations} changed keys; ` +
    (lowest === undefined
      ? "no failure"
      : `${failed.length} failed: ${failed.map(({ seed }) => seed).join(" ")}\n` +
        `first failing seed ${lowest.seed}, replay: ${Replay.command(lowest, values.plant)}`),
)
process.exitCode = failed.length === 0 ? 0 : 1
