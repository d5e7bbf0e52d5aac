/**
 * Four validators, a payer and ten strangers who attack each validator; counts the rounds finalized meanwhile. `npm run
 * test:attacks`, or some of the attacks with `UDG_ATTACKS=pieces,records`. Attackers have a low priority, so that they do
 * not take the nodes' processor; on a busy machine they need `UDG_ATTACK_NICE=0`, or they hardly attack.
 */
import { readFileSync } from "node:fs"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { expectOneHistory } from "../History.js"
import * as Processes from "../Processes.js"
import * as Wallet from "../Wallet.js"
import { kinds } from "./Kinds.js"
import { type Report, Siege } from "./Siege.js"

const LIFE_MS = 600_000
const STRANGERS = 10
const ROUND_MS = 100
const WINDOW_MS = Number(process.env["UDG_ATTACK_WINDOW_MS"] ?? 10_000)
const PAIRS = Number(process.env["UDG_ATTACK_PAIRS"] ?? 2)
const TICKS_A_SECOND = 100
const NEWCOMER_LIMIT_MS = 60_000
/**
 * The delay from the start of an attack or a rest to the measurement: resting attackers leave unfinished work behind.
 */
const SETTLE_MS = { attacked: 3_000, quiet: 8_000 }
/** The attackers' share of a processor before the first measurement. */
const FIRST_DUTY = 0.25
const LEAST_RATIO = 0.7
const MOST_GROWTH_MIB = 300
/** For attacks with a control: the ratio of rounds to the undisturbed network, and of processor time to the control. */
const WITH_CONTROL = { leastRatio: 0.8, mostTimes: 2 }

/** How much history the nodes keep: `none` or a number of rounds; by default the nodes' default. */
const HISTORY = process.env["UDG_ATTACK_HISTORY"]
const names = process.env["UDG_ATTACKS"]?.split(",")
const chosen = Object.keys(kinds).filter((kind) => names?.includes(kind) !== false)
/** Only measures, without limits that are not met yet. */
const onlyMeasures = process.env["UDG_ATTACKS_MEASURE"] === "1"

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const residentMiB = ({ pid }: Processes.Started): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024

/** Processor time so far, over all threads. */
const processorSeconds = ({ pid }: Processes.Started): number => {
  const [, ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")
  const [user = 0, system = 0] = fields.join(") ").split(" ").slice(11, 13).map(Number)
  return (user + system) / TICKS_A_SECOND
}

/** Of an even number, the mean of the middle two. */
const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const [below, above] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0]
  return (below + above) / 2
}

interface Window {
  /** Rounds a second, of each node. */
  readonly rates: ReadonlyArray<number>
  readonly peakMiB: number
  /** The longest that a node took to answer a health check. */
  readonly statusMs: number
  /** What a node uses of a processor: tells more than the rates on a busy machine. */
  readonly load: number
  /** Broadcast messages a second that all nodes together have accepted, by sender. */
  readonly heard: Heard
  readonly report: Report
}

interface Heard {
  readonly stranger: number
  readonly member: number
}

const GOSSIP = ["Transactions", "Heartbeat", "CheckpointSignature", "Evidence"]

/** So far. */
const heardBy = async ({ http }: Processes.Started): Promise<Heard> => {
  const text = http === null ? "" : await fetch(`${http}/metrics`).then((answer) => answer.text())
  const from = (standing: string): number => {
    const line = new RegExp(
      `messages_total\\{direction="received",kind="(?:${GOSSIP.join("|")})",class="${standing}"\\} (\\d+)`,
      "g",
    )
    return [...text.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  return { stranger: from("stranger"), member: from("member") }
}

const heardByAll = async (nodes: ReadonlyArray<Processes.Started>): Promise<Heard> => {
  const each = await Promise.all(nodes.map(heardBy))
  const sum = (of: keyof Heard) => each.reduce((total, heard) => total + heard[of], 0)
  return { stranger: sum("stranger"), member: sum("member") }
}

const messagesPerSecond = (windows: ReadonlyArray<Window>): number =>
  meanOf(windows.map(({ report }) => report.messages)) / (WINDOW_MS / 1_000)

const statusMsOf = async ({ http }: Processes.Started): Promise<number> => {
  const began = performance.now()
  if (http !== null) await fetch(`${http}/status`).then((answer) => answer.text())
  return performance.now() - began
}

const measure = async (nodes: ReadonlyArray<Processes.Started>, siege: Siege, settleMs: number): Promise<Window> => {
  await pause(settleMs)
  await siege.report()
  const before = await heardByAll(nodes)
  const began = performance.now()
  const rounds = nodes.map(Processes.finalizedRound)
  const used = nodes.map(processorSeconds)
  let peakMiB = 0
  let statusMs = 0
  while (performance.now() - began < WINDOW_MS) {
    await pause(500)
    peakMiB = Math.max(peakMiB, ...nodes.map(residentMiB))
    statusMs = Math.max(statusMs, ...(await Promise.all(nodes.map(statusMsOf))))
  }
  const after = nodes.map(Processes.finalizedRound)
  const seconds = (performance.now() - began) / 1_000
  const load = meanOf(nodes.map((node, i) => (processorSeconds(node) - (used[i] ?? 0)) / seconds))
  const rates = after.map((round, i) => (round - (rounds[i] ?? 0)) / seconds)
  const report = await siege.report()
  const heard = await heardByAll(nodes)
  const per = (of: keyof Heard) => (heard[of] - before[of]) / seconds
  return { rates, peakMiB, statusMs, load, heard: { stranger: per("stranger"), member: per("member") }, report }
}

const meanOf = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

interface Row {
  readonly attack: string
  readonly [column: string]: string | number
}

const rows: Array<Row> = []

/** A table for a page of docs/. */
const tableOf = (all: ReadonlyArray<Row>): string => {
  const columns = Object.keys(all[0] ?? {})
  const lines = [columns, columns.map(() => "-"), ...all.map((row) => columns.map((column) => row[column]))]
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")
}

/**
 * How long an honest newcomer takes to reach the round that the others had on its arrival; infinity if it is not
 * admitted.
 */
const newcomerSeconds = async (network: Processes.Founded, nodes: ReadonlyArray<Processes.Started>) => {
  const goal = Math.max(...nodes.map(Processes.finalizedRound))
  const began = performance.now()
  const peers = nodes.flatMap(({ p2p }) => ["--peer", p2p])
  const newcomer = await Processes.start(network, "newcomer", ["--no-validate", ...peers])
  const joined = await Processes.until("", () => Processes.finalizedRound(newcomer) >= goal, NEWCOMER_LIMIT_MS).then(
    () => (performance.now() - began) / 1_000,
    () => Number.POSITIVE_INFINITY,
  )
  // Prints the log, which has the reason.
  if (!Number.isFinite(joined))
    process.stderr.write(`the newcomer, up to round ${goal}:\n${newcomer.log().slice(-4_000)}\n`)
  await newcomer.kill()
  return joined
}

/** How long a restarted validator takes to sign again. */
const returnSeconds = async (network: Processes.Founded, nodes: ReadonlyArray<Processes.Started>) => {
  const [first, ...others] = nodes
  const [key] = network.keys
  const [other] = others
  if (first === undefined || other === undefined || key === undefined) throw new Error("no network")
  await first.kill()
  const signed = Processes.lastRoundOf(other, key)
  const began = performance.now()
  const back = await Processes.startValidator(network, 0, others)
  const seconds = await Processes.until(
    "",
    () => Processes.lastRoundOf(other, key) > signed + 3,
    NEWCOMER_LIMIT_MS,
  ).then(
    () => (performance.now() - began) / 1_000,
    () => Number.POSITIVE_INFINITY,
  )
  return { seconds, nodes: [back, ...others] }
}

const rounded = (value: number, digits = 1): number | string =>
  Number.isFinite(value) ? Number(value.toFixed(digits)) : "never"

afterEach(Processes.removeAll)

afterAll(() => {
  process.stdout.write(`${tableOf(rows)}\n`)
})

describe.runIf(chosen.length > 0)("ten strangers at each of four validators", () => {
  it.each(chosen)("do not stop the network: %s", async (kind) => {
    const { control, allocations = [], settleMs = SETTLE_MS.attacked } = kinds[kind] ?? {}
    const { least = 0, mostGrowthMiB = MOST_GROWTH_MIB } = kinds[kind] ?? {}
    const network = Processes.found({ roundMs: ROUND_MS, epochRounds: 3_600, checkpointRounds: 100, allocations })
    const nodes = await Processes.startAll(network, HISTORY === undefined ? [] : ["--history", HISTORY], "info")
    await Processes.everybodyAt(nodes, 60)
    const besieged = (kind: string) =>
      Siege.begin({
        genesisFile: network.genesisFile,
        targets: nodes.map(({ p2p }) => p2p),
        kind,
        strangers: STRANGERS,
        niceness: Number(process.env["UDG_ATTACK_NICE"] ?? 10),
        lifeMs: LIFE_MS,
      })
    const [first] = nodes
    if (first === undefined) throw new Error("no network")
    const payments = Wallet.paying(first, network, ROUND_MS)
    const siege = await besieged(kind)
    const controls = control === undefined ? null : await besieged(control)
    try {
      const beforeMiB = Math.max(...nodes.map(residentMiB))
      const attacked: Array<Window> = []
      const quiet: Array<Window> = []
      const controlled: Array<Window> = []
      let duty = FIRST_DUTY
      for (let pair = 0; pair < PAIRS; pair++) {
        siege.rest(duty)
        quiet.push(await measure(nodes, siege, SETTLE_MS.quiet))
        siege.attack()
        const window = await measure(nodes, siege, settleMs)
        attacked.push(window)
        duty = window.report.cpuMs / WINDOW_MS
        if (controls === null) continue
        siege.rest(0)
        controls.attack()
        controlled.push(await measure(nodes, controls, SETTLE_MS.quiet))
        controls.rest(0)
      }
      const paid = await payments.stop()
      await Processes.until("all payments are final", () => Processes.notRecorded(first, paid).length === 0)
      const joined = await newcomerSeconds(network, nodes)
      const returned = kind === "places" || kind === "mix" ? await returnSeconds(network, nodes) : null
      siege.end()
      controls?.end()
      const pairs = attacked.map(({ rates }, i) => [meanOf(rates), meanOf(quiet[i]?.rates ?? [])] as const)
      const ratio = median(pairs.map(([under, without]) => under / without))
      const slowest = median(attacked.map(({ rates }, i) => Math.min(...rates) / meanOf(quiet[i]?.rates ?? [])))
      const growthMiB = Math.max(...attacked.map(({ peakMiB }) => peakMiB)) - beforeMiB
      const loadOf = (windows: ReadonlyArray<Window>) => meanOf(windows.map(({ load }) => load))
      const statusOf = (windows: ReadonlyArray<Window>) =>
        rounded(Math.max(...windows.map(({ statusMs }) => statusMs)), 0)
      const sums = attacked.map(({ report }) => report)
      const seconds = (PAIRS * WINDOW_MS) / 1_000
      rows.push({
        attack: kind,
        "rounds/s": rounded(meanOf(pairs.map(([, without]) => without))),
        attacked: rounded(meanOf(pairs.map(([under]) => under))),
        ratio: rounded(ratio, 2),
        slowest: rounded(slowest, 2),
        "CPU of a node": `${rounded(loadOf(quiet), 2)} → ${rounded(loadOf(attacked), 2)}`,
        "rounds/s of the control":
          controlled.length === 0 ? "" : rounded(meanOf(controlled.map(({ rates }) => meanOf(rates)))),
        "CPU of the control": controlled.length === 0 ? "" : rounded(loadOf(controlled), 2),
        "longest /status ms": `${statusOf(quiet)} → ${statusOf(attacked)}`,
        "MiB before": rounded(beforeMiB, 0),
        "MiB more": rounded(growthMiB, 0),
        "newcomer s": rounded(joined),
        "validator back s": returned === null ? "" : rounded(returned.seconds),
        "messages/s": rounded(messagesPerSecond(attacked), 0),
        "of the control": controlled.length === 0 ? "" : rounded(messagesPerSecond(controlled), 0),
        "told by strangers/s": rounded(meanOf(attacked.map(({ heard }) => heard.stranger)), 0),
        "told by members/s": `${rounded(meanOf(quiet.map(({ heard }) => heard.member)), 0)} → ${rounded(meanOf(attacked.map(({ heard }) => heard.member)), 0)}`,
        "MB/s": rounded(sums.reduce((sum, { bytes }) => sum + bytes, 0) / seconds / 1e6),
        connections: sums.at(-1)?.connections ?? 0,
        refused: sums.at(-1)?.refusals ?? 0,
        "attackers' CPU": rounded(sums.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1_000 / seconds, 2),
      })
      process.stdout.write(`${JSON.stringify(rows.at(-1))}\n`)
      const all = returned === null ? nodes : returned.nodes
      const round = Math.max(...all.map(Processes.finalizedRound)) + 5
      await Processes.everybodyAt(all, round)
      await expectOneHistory(all, round)
      if (onlyMeasures) return
      // Otherwise the test has shown nothing.
      expect(sums.at(-1)?.connections).toBeGreaterThan(0)
      expect(messagesPerSecond(attacked)).toBeGreaterThanOrEqual(least)
      if (controls !== null) expect(messagesPerSecond(controlled)).toBeGreaterThanOrEqual(least)
      expect(sums.at(-1)?.breaches).toBe(0)
      expect(slowest).toBeGreaterThanOrEqual(controls === null ? LEAST_RATIO : WITH_CONTROL.leastRatio)
      if (controls !== null) expect(loadOf(attacked) / loadOf(controlled)).toBeLessThan(WITH_CONTROL.mostTimes)
      expect(growthMiB).toBeLessThan(mostGrowthMiB)
      expect(joined).toBeLessThan(NEWCOMER_LIMIT_MS / 1_000)
      expect(returned?.seconds ?? 0).toBeLessThan(NEWCOMER_LIMIT_MS / 1_000)
    } finally {
      siege.end()
      controls?.end()
    }
  })
})
