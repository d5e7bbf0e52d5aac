/** `npm run histories`: clients of real processes under faults, and a verdict on what they were told. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Checker from "./Checker.js"
import * as History from "./History.js"
import { run } from "./Run.js"
import { World } from "./World.js"

const usage = `npm run histories -- [--minutes M] [--seed S] [--gateways] [--disks] | --judge FILE
  --minutes  how long things go wrong; 5 unless told
  --seed     what goes wrong, and what clients do; 1 unless told
  --gateways with PostgreSQL, an archive and two gateways
  --disks    with a disk that gets full; mounts it, so run it by unshare -m
  --judge    a history that was kept`

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    gateways: { type: "boolean", default: false },
    disks: { type: "boolean", default: false },
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

/** Its children would live on. */
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

if (values.help) say(usage)
else if (values.judge !== undefined) tell(Checker.judge(History.read(readFileSync(values.judge, "utf8"))))
else await live()
