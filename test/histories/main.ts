/** `npm run histories`: clients of real processes under faults, and a verdict on the answers they got. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Checker from "./Checker.js"
import * as History from "./History.js"
import { faults } from "./Planted.js"
import * as Program from "./Program.js"
import { run } from "./Run.js"
import { World } from "./World.js"

const usage = `npm run histories -- [--minutes M] [--seed S] [--gateways] [--disks] [--plant NAME] | --judge FILE
  --minutes  how long things go wrong; 5 unless told
  --seed     what goes wrong, and what clients do; 1 unless told
  --gateways with PostgreSQL, an archive and two gateways
  --disks    with a disk that gets full; mounts it, so run it by unshare -m
  --plant    faults of test/histories/Planted.ts by their names, or all, one after the other
  --judge    a history that was kept`

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
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
  process.once(signal, () => World.endAll().finally(() => process.exit(130)))

const live = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-history-"))
  const file = join(folder, "history.jsonl")
  const wish = { seed: numberOf("seed", values.seed), seconds: 60 * numberOf("minutes", values.minutes) }
  const { lines, transactions, violations } = await run({
    ...wish,
    file,
    say,
    hasGateways: values.gateways,
    hasDisks: values.disks,
  })
  tell(violations)
  const verdict = violations.length === 0 ? "nothing is wrong" : `${violations.length} violations, kept in ${file}`
  say(`${transactions} transactions, ${lines} lines: ${verdict}`)
  if (violations.length === 0) rmSync(folder, { recursive: true })
}

/** A row for each fault: which rule found it, and how long that took. */
const plant = async (words: ReadonlyArray<string>): Promise<void> => {
  const chosen = faults.filter(({ name }) => words.includes(name) || words.includes("all"))
  if (chosen.length === 0)
    throw new Error(`--plant ${words}: expected all, ${faults.map(({ name }) => name).join(", ")}`)
  const program = await Program.make()
  const folder = mkdtempSync(join(tmpdir(), "udg-history-"))
  const wish = { seed: numberOf("seed", values.seed), seconds: 60 * numberOf("minutes", values.minutes) }
  for (const { name, rule, weather = [], hasGateways = false } of chosen) {
    const file = join(folder, `${name}.jsonl`)
    const { violations, shownAfterMs } = await run({
      ...{ ...wish, file, weather, hasGateways, executed: program.with(name), say: () => {} },
    })
    const rules = [...new Set(violations.map(({ rule }) => rule))]
    const isAsExpected = rule === null ? rules.length === 0 : rules.includes(rule)
    if (!isAsExpected) process.exitCode = 1
    const when = shownAfterMs === null ? "" : `after ${(shownAfterMs / 1_000).toFixed(1)} s`
    say(`${isAsExpected ? "as expected" : "OTHERWISE"}  ${name}: ${rules.join(", ") || "nothing"} ${when}`)
    for (const rule of rules) say(`  ${rule}: ${violations.find((one) => one.rule === rule)?.what}`)
  }
  program.remove()
  say(`the histories are in ${folder}`)
}

if (values.help) say(usage)
else if (values.plant !== undefined) await plant(values.plant.split(","))
else if (values.judge !== undefined) tell(Checker.judge(History.read(readFileSync(values.judge, "utf8"))))
else await live()
