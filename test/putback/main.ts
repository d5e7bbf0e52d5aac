/** `npm run putback`: puts bugs back that audits found, and says which judge notices each. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { optionsOf } from "../simulation/Simulation.js"
import * as Sweep from "../simulation/Sweep.js"
import * as Bundle from "../support/Bundle.js"
import * as Virtual from "../virtual/Program.js"
import { type Finding, findings, named } from "./Findings.js"

const usage = `npm run putback -- [--seeds N] [--seconds S] [NAME…]
  --seeds    for the simulator; 0 leaves it out; 20 unless told
  --seconds  of virtual histories; 0 leaves them out; 30 unless told
  --no-tests leaves the test files out
  NAME       a finding of test/putback/Findings.ts; all unless told`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    seeds: { type: "string", default: "20" },
    seconds: { type: "string", default: "30" },
    tests: { type: "boolean", default: true },
    help: { type: "boolean", default: false },
  },
})

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const seeds = Number(values.seeds)
const seconds = Number(values.seconds)
const chosen = positionals.length === 0 ? findings : positionals.map(named)
const folder = mkdtempSync(join(tmpdir(), "udg-putback-"))

interface Assertion {
  readonly fullName: string
  readonly status: string
  readonly failureMessages: ReadonlyArray<string>
}

interface Tested {
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<Assertion>
  }>
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? ""

/** The tests that fail. */
const test = ({ name, tests }: Finding): string => {
  const report = join(folder, `${name}.json`)
  const config = [
    "--config",
    "test/putback/vitest.config.ts",
    "--testTimeout=60000",
    "--reporter=json",
    `--outputFile=${report}`,
  ]
  const env = { ...process.env, UDG_PUT_BACK: name }
  spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...config, ...tests], { env })
  if (!existsSync(report)) return "tests: the run broke off"
  const { numPassedTests, testResults }: Tested = JSON.parse(readFileSync(report, "utf8"))
  const failed = testResults.flatMap(({ assertionResults, name, status }) =>
    assertionResults.length === 0 && status === "failed"
      ? [name]
      : assertionResults.flatMap(({ fullName, status, failureMessages: [why = ""] }) =>
          status === "failed" ? [`${fullName}: ${firstLine(why)}`] : [],
        ),
  )
  return `tests: ${failed.length} of ${failed.length + numPassedTests} fail${failed.map((one) => `\n    ${one}`).join("")}`
}

/** The first seed that fails. */
const simulate = async (crew: Sweep.Crew, { name, simulated }: Finding): Promise<string> => {
  if (simulated === undefined) return "simulator: not asked"
  const { nodes, rounds, weather, rotations = false } = simulated
  const runs = Array.from({ length: seeds }, (_, i) => ({ ...optionsOf(i + 1, nodes, rounds, weather), rotations }))
  let found = ""
  const before = process.cpuUsage()
  await crew.run(
    runs,
    ({ seed, failure }) => {
      if (failure !== null) found = `seed ${seed}: ${firstLine(failure.message)}`
      return failure === null
    },
    name,
  )
  const { user, system } = process.cpuUsage(before)
  return `simulator: ${found || `nothing in ${seeds} seeds`} (${((user + system) / 1e6).toFixed(0)} s of processor)`
}

/** The rules that a history breaks. */
const record = async (program: Virtual.Program, finding: Finding): Promise<string> => {
  const { name, virtual } = finding
  if (virtual === undefined) return "virtual history: not asked"
  const file = join(folder, `${name}.jsonl`)
  const weather = virtual.length === 0 ? undefined : virtual
  const wish = { seed: 1, seconds, file, weather, say: () => {} }
  try {
    const { violations, shownAfterMs } = await program.run(wish, finding)
    const [first] = violations
    if (first === undefined) return `virtual history: nothing in ${seconds} s`
    return `virtual history: ${first.rule}: ${first.what}, after ${((shownAfterMs ?? 0) / 1_000).toFixed(1)} s`
  } catch (error) {
    return `virtual history: ${error}`
  }
}

if (values.help) say(usage)
else {
  const simulated = chosen.filter((finding) => finding.simulated !== undefined)
  const recorded = chosen.filter((finding) => finding.virtual !== undefined)
  const asksSimulator = seeds > 0 && simulated.length > 0
  const outfile = `simulation/put-back-${process.pid}.mjs`
  const bundle = asksSimulator
    ? await Bundle.make({ entry: "test/simulation/worker.ts", outfile, choice: simulated })
    : undefined
  const crew = bundle === undefined ? undefined : new Sweep.Crew(bundle, 1)
  const program = seconds > 0 && recorded.length > 0 ? await Virtual.make(recorded) : undefined
  for (const finding of chosen) {
    say(`${finding.name}: ${finding.story}`)
    if (values.tests) say(`  ${test(finding)}`)
    if (crew !== undefined) say(`  ${await simulate(crew, finding)}`)
    if (program !== undefined) say(`  ${await record(program, finding)}`)
  }
  await crew?.dismiss()
  if (bundle !== undefined) rmSync(bundle, { force: true })
  program?.remove()
  rmSync(folder, { recursive: true, force: true })
}
