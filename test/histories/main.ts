/** `npm run histories`: clients of real processes under faults, and a verdict on the answers they got. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Virtual from "../virtual/Program.js"
import * as Checker from "./Checker.js"
import * as History from "./History.js"
import { type Fault, faults, isVirtual } from "./Planted.js"
import * as Program from "./Program.js"
import { run, type Verdict, type Wish } from "./Run.js"
import * as World from "./World.js"

const usage = `npm run histories -- [--minutes M] [--seed S] [--plant NAME] [--gateways] [--disks]
       npm run histories -- --virtual [--minutes M] [--seed S] [--plant NAME] [--sweep N]
       npm run histories -- --judge FILE
  --minutes  how long things go wrong; 5 unless told
  --seed     what goes wrong, and what clients do; 1 unless told
  --virtual  without processes, on virtual time: a seed always does the same
  --sweep    how many seeds, from the first one on
  --gateways with PostgreSQL, an archive and two gateways
  --disks    with a disk that gets full; mounts it, so run it by unshare -m
  --plant    faults of test/histories/Planted.ts by their names, or all, one after the other
  --judge    a history that was kept`

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    virtual: { type: "boolean", default: false },
    sweep: { type: "string", default: "1" },
    gateways: { type: "boolean", default: false },
    disks: { type: "boolean", default: false },
    plant: { type: "string" },
    judge: { type: "string" },
    help: { type: "boolean", default: false },
  },
})

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const numberOf = (name: string, text: string): number => {
  const value = Number(text)
  if (Number.isFinite(value) && value >= 0) return value
  process.stderr.write(`--${name} ${text}: a number expected\n${usage}\n`)
  process.exit(2)
}

const tell = (violations: ReadonlyArray<History.Violation>): void => {
  for (const { rule, what } of violations) say(`${rule}: ${what}`)
  process.exitCode = violations.length === 0 ? 0 : 1
}

/** Otherwise its child processes would stay. */
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => World.World.endAll().finally(() => process.exit(130)))

interface Runner {
  readonly run: (wish: Wish, fault?: Fault) => Promise<Verdict>
  readonly remove: () => void
}

/** With processes, or with what stands in for them. */
const runnerOf = async (faults: ReadonlyArray<Fault>): Promise<Runner> => {
  if (values.virtual) return Virtual.make(faults)
  const { gateways, disks } = values
  const program = faults.length === 0 ? null : await Program.make()
  return {
    run: (wish, fault) => {
      const executed = fault === undefined ? undefined : program?.with(fault.name)
      const hasGateways = fault === undefined ? gateways : fault.hasGateways === true
      return run(wish, World.place({ hasGateways, hasDisks: disks, ...(executed === undefined ? {} : { executed }) }))
    },
    remove: () => program?.remove(),
  }
}

const folder = mkdtempSync(join(tmpdir(), "udg-history-"))
const seed = numberOf("seed", values.seed)
const seconds = 60 * numberOf("minutes", values.minutes)

const live = async (): Promise<void> => {
  const runner = await runnerOf([])
  for (const n of Array.from({ length: numberOf("sweep", values.sweep) }, (_, i) => seed + i)) {
    const file = join(folder, `${n}.jsonl`)
    try {
      const { lines, transactions, violations } = await runner.run({ seed: n, seconds, file, say })
      for (const { rule, what } of violations) say(`${rule}: ${what}`)
      const verdict = violations.length === 0 ? "nothing is wrong" : `${violations.length} violations, kept in ${file}`
      say(`seed ${n}: ${transactions} transactions, ${lines} lines: ${verdict}`)
      if (violations.length === 0) rmSync(file)
      else process.exitCode = 1
    } catch (error) {
      say(String(error))
      process.exitCode = 1
    }
  }
  runner.remove()
  if (process.exitCode === undefined) rmSync(folder, { recursive: true })
}

/** A row for each fault: which rule found it, and how long that took. */
const plant = async (words: ReadonlyArray<string>): Promise<void> => {
  const possible = values.virtual ? faults.filter(isVirtual) : faults
  const chosen = possible.filter(({ name }) => words.includes(name) || words.includes("all"))
  if (chosen.length === 0)
    throw new Error(`--plant ${words}: expected all, ${possible.map(({ name }) => name).join(", ")}`)
  const runner = await runnerOf(chosen)
  for (const fault of chosen) {
    const { name, rule, weather = [] } = fault
    const file = join(folder, `${name}.jsonl`)
    const { violations, shownAfterMs } = await runner.run({ seed, seconds, file, weather, say: () => {} }, fault)
    const rules = [...new Set(violations.map(({ rule }) => rule))]
    const isAsExpected = rule === null ? rules.length === 0 : rules.includes(rule)
    if (!isAsExpected) process.exitCode = 1
    const when = shownAfterMs === null ? "" : `after ${(shownAfterMs / 1_000).toFixed(1)} s`
    say(`${isAsExpected ? "as expected" : "OTHERWISE"}  ${name}: ${rules.join(", ") || "nothing"} ${when}`)
    for (const rule of rules) say(`  ${rule}: ${violations.find((one) => one.rule === rule)?.what}`)
  }
  runner.remove()
  say(`the histories are in ${folder}`)
}

if (values.virtual ? values.gateways || values.disks : values.sweep !== "1") {
  process.stderr.write(`--virtual has no gateways and disks, and processes no sweep\n${usage}\n`)
  process.exit(2)
}
if (values.help) say(usage)
else if (values.plant !== undefined) await plant(values.plant.split(","))
else if (values.judge !== undefined) tell(Checker.judge(History.read(readFileSync(values.judge, "utf8"))))
else await live()
