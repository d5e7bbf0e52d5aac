/**
 * A node that makes rounds alone for a payer, and strangers at its HTTP API. Measures what others notice: rounds,
 * responses, memory and processor time. Part of `npm run test:attacks`; `UDG_ATTACKS=http-pieces` runs only some.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { request } from "node:http"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import * as Processes from "../Processes.js"
import * as Wallet from "../Wallet.js"

const WINDOW_MS = Number(process.env["UDG_ATTACK_WINDOW_MS"] ?? 15_000)
const PAIRS = Number(process.env["UDG_ATTACK_PAIRS"] ?? 2)
const ROUND_MS = 250
/** Shorter than the interval, so that no round is idle. */
const PAYMENT_MS = 200
const LOOK_MS = 100
const SETTLE_MS = 2_000
const LEAST_RATIO = 0.8
/** Above the node's earlier use; the control takes half of it. */
const MOST_GROWTH_MIB = 120
const TICKS_A_SECOND = 100

interface Attack {
  readonly name: string
  readonly says: string
  readonly connections: number
}

const attacks: ReadonlyArray<Attack> = [
  { name: "http-coarse", says: "endless bodies in chunks of 30 kB, the control", connections: 4 },
  { name: "http-pieces", says: "endless bodies in chunks of a byte", connections: 4 },
  { name: "http-pieces", says: "the same over more connections", connections: 64 },
  { name: "http-unwanted", says: "the same to a path that does not exist", connections: 64 },
  { name: "http-begun", says: "thousands of headers, and no body", connections: 900 },
]
const names = process.env["UDG_ATTACKS"]?.split(",")
const chosen = attacks.filter(({ name }) => names?.includes(name) !== false)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024

const processorSeconds = (pid: number): number => {
  const [, ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")
  const [user = 0, system = 0] = fields.join(") ").split(" ").slice(11, 13).map(Number)
  return (user + system) / TICKS_A_SECOND
}

/** The time of a response over a new connection. */
const answerMs = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    const asked = request(url, { agent: false }, (response) => {
      response.resume()
      response.on("end", () => resolve(performance.now() - began))
    })
    asked.on("error", reject)
    asked.end()
  })

interface Window {
  readonly rate: number
  readonly longestMs: number
  readonly peakMiB: number
  readonly load: number
}

const measure = async (node: Processes.Started, url: string): Promise<Window> => {
  await pause(SETTLE_MS)
  const began = performance.now()
  const round = Processes.finalizedRound(node)
  const used = processorSeconds(node.pid)
  let longestMs = 0
  let peakMiB = 0
  while (performance.now() - began < WINDOW_MS) {
    longestMs = Math.max(longestMs, await answerMs(url))
    peakMiB = Math.max(peakMiB, residentMiB(node.pid))
    await pause(LOOK_MS)
  }
  const seconds = (performance.now() - began) / 1_000
  return {
    rate: (Processes.finalizedRound(node) - round) / seconds,
    longestMs,
    peakMiB,
    load: (processorSeconds(node.pid) - used) / seconds,
  }
}

const strangers: Array<ChildProcess> = []

/** Strangers in a separate process, which report what they sent at each command. */
const gather = (url: string, { name, connections }: Attack) => {
  const program = resolve(import.meta.dirname, "strangers.mjs")
  const child = spawn(process.execPath, [program, url, name, String(connections)], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  strangers.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async (order: "attack" | "rest"): Promise<{ readonly connections: number; readonly bytes: number }> => {
    child.stdin.write(`${order}\n`)
    const line = await lines.next()
    if (line.done === true) throw new Error("the strangers' process has ended")
    return JSON.parse(line.value)
  }
}

const mean = (windows: ReadonlyArray<Window>, of: (window: Window) => number): number =>
  windows.reduce((sum, window) => sum + of(window), 0) / windows.length
const highest = (windows: ReadonlyArray<Window>, of: (window: Window) => number): number => Math.max(...windows.map(of))
const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))

const rows: Array<object> = []
afterEach(async () => {
  for (const child of strangers.splice(0)) child.kill("SIGKILL")
  await Processes.removeAll()
})
afterAll(() => {
  for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`)
})

describe.runIf(chosen.length > 0)("strangers at the HTTP API do not stop a node", () => {
  it.each(chosen)("$says, over $connections connections", async (attack) => {
    const network = Processes.found({ validators: 1, roundMs: ROUND_MS, epochRounds: 3_600, checkpointRounds: 100 })
    const node = await Processes.startValidator(network, 0, [], ["--rpc-port", "0"])
    const url = `${node.http}/status`
    const payments = Wallet.paying(node, network, PAYMENT_MS)
    await Processes.everybodyAt([node], 10)
    const tell = gather(url, attack)
    const beforeMiB = residentMiB(node.pid)
    const quiet: Array<Window> = []
    const attacked: Array<Window> = []
    const sent = { connections: 0, bytes: 0 }
    for (let pair = 0; pair < PAIRS; pair++) {
      quiet.push(await measure(node, url))
      await tell("attack")
      attacked.push(await measure(node, url))
      const { connections, bytes } = await tell("rest")
      sent.connections += connections
      sent.bytes += bytes
    }
    const paid = await payments.stop()
    const ratio = mean(attacked, ({ rate }) => rate) / mean(quiet, ({ rate }) => rate)
    const growthMiB = highest(attacked, ({ peakMiB }) => peakMiB) - beforeMiB
    const both = (of: (window: Window) => number, from: typeof mean, digits?: number): string =>
      `${rounded(from(quiet, of), digits)} → ${rounded(from(attacked, of), digits)}`
    rows.push({
      attack: `${attack.name} × ${attack.connections}`,
      "rounds/s": both(({ rate }) => rate, mean),
      ratio: rounded(ratio),
      "longest /status ms": both(({ longestMs }) => longestMs, highest, 0),
      CPU: both(({ load }) => load, mean),
      "MiB before": rounded(beforeMiB, 0),
      "MiB more": rounded(growthMiB, 0),
      paid: paid.length,
      ...sent,
    })
    process.stdout.write(`${JSON.stringify(rows.at(-1))}\n`)
    expect(sent.bytes).toBeGreaterThan(0)
    await Processes.until("all payments are final", () => Processes.notRecorded(node, paid).length === 0)
    expect(ratio).toBeGreaterThanOrEqual(LEAST_RATIO)
    expect(growthMiB).toBeLessThan(MOST_GROWTH_MIB)
  })
})
