/**
 * The alerts of load and memory fire at real failures: real validators, a real Prometheus with the shipped rules.
 * Prints the time from cause to alert. Takes forty minutes, since the rules wait for minutes.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Layer } from "effect"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { Client, senders } from "../../bench/Payments.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { isTried, textOf } from "../ops/Kit.js"
import { Alarms, endAll, isInstalled, LIMIT_MS, measure, printTable } from "./Alarms.js"
import * as Processes from "./Processes.js"
import { withholder } from "./Withholder.js"

afterEach(async () => {
  await endAll()
  await Processes.removeAll()
})

afterAll(printTable)

const watched = async (network: Processes.Founded, nodes: ReadonlyArray<Processes.Started>): Promise<Alarms> => {
  await Processes.everybodyAt(nodes, 5)
  return Alarms.onHealthy(network.folder, nodes)
}

/** Repeats a step until the promise is kept. A step that fails ends the test. */
const meanwhile = async <A>(promise: Promise<A>, step: () => Promise<void>): Promise<A> => {
  let isOver = false
  const steps = async () => {
    while (!isOver) await step()
  }
  const over = promise.finally(() => {
    isOver = true
  })
  const [result] = await Promise.all([over, steps()])
  return result
}

const ACCOUNTS = 400
const PAYMENTS_AT_ONCE = 100
/** Fewer than the 10,000 places, so that no payment is refused. */
const PAYMENTS_WITHOUT_QUORUM = 9_500

/** Clients pay on while nothing becomes final. */
const fullMempool = async () => {
  const accounts = senders(ACCOUNTS)
  const allocations = accounts.map(({ address }) => ({ address, amount: Sats.make(Sats.SATS_PER_COIN) }))
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000, allocations })
  const nodes = [...(await Processes.startAll(network, ["--rate-limits", "off"]))]
  const [first, , ...others] = nodes
  if (first === undefined) return expect.unreachable()
  const client = new Client(network, first, accounts, false)
  const pays = async () => {
    client.prepare(PAYMENTS_AT_ONCE)
    client.offer(PAYMENTS_AT_ONCE)
    await sleep(500)
  }
  const alarms = await meanwhile(watched(network, nodes), pays)
  await Promise.all(others.map((other) => other.kill()))
  const fires = measure("two of four are killed, and clients pay on", alarms, "UdgMempoolSize", first)
  for (let paid = 0; paid < PAYMENTS_WITHOUT_QUORUM; paid += PAYMENTS_AT_ONCE) await pays()
  await client.settled()
  await fires
}

/** A machine that has other things to do for most of each second. */
const busyMachine = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const nodes = await Processes.startAll(network)
  const alarms = await watched(network, nodes)
  const last = nodes[3]
  if (last === undefined) return expect.unreachable()
  const fires = measure("one of four gets 400 ms of each second", alarms, "UdgEventLoopLate", last)
  await meanwhile(fires, async () => {
    process.kill(last.pid, "SIGSTOP")
    await sleep(600)
    process.kill(last.pid, "SIGCONT")
    await sleep(400)
  })
}

/** A disk on which each write of a page takes 200 ms. */
const SLOW = ["--trace=pwrite64,fdatasync", "--inject=pwrite64,fdatasync:delay_exit=200000"]

/** One disk of four is slow, so its node writes commits later than the others make them. */
const slowDisk = async () => {
  const network = Processes.found({ roundMs: 50, epochRounds: 50_000 })
  const nodes = await Processes.startAll(network)
  const alarms = await watched(network, nodes)
  const last = nodes[3]
  if (last === undefined) return expect.unreachable()
  const slowness = spawn("strace", ["--follow-forks", "--output=/dev/null", ...SLOW, `--attach=${last.pid}`])
  try {
    await measure("one disk of four takes 200 ms for each page", alarms, "UdgFinalityLag", last)
  } finally {
    slowness.kill()
    await once(slowness, "exit")
  }
}

/** 30 minutes become 15 seconds, and six hours three minutes. */
const FACTOR = 120
const DURATION = /\b(?:\d+[hm])+/g

const shortened = (duration: string): string => {
  const parts = [...duration.matchAll(/(\d+)([hm])/g)]
  return `${parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unit === "h" ? 3_600 : 60), 0) / FACTOR}s`
}

/** The shipped rules; only the windows of UdgMemoryRises are shorter. */
const rulesOfMinutes = (): string => {
  const shipped = textOf("prometheus/alerts.yml").split("\n")
  const at = 1 + shipped.findIndex((line) => line.includes("alert: UdgMemoryRises"))
  return shipped.map((line, n) => (n === at ? line.replace(DURATION, shortened) : line)).join("\n")
}

const leak = async () => {
  const network = Processes.found({ validators: 1, roundMs: 500, epochRounds: 2_000 })
  const execArgv = ["--import", resolve(import.meta.dirname, "leak.mjs")]
  const node = await Processes.startValidator(network, 0, [], [], undefined, { execArgv, environment: {} })
  await Processes.everybodyAt([node], 5)
  const rules = join(network.folder, "alerts.yml")
  writeFileSync(rules, rulesOfMinutes())
  const alarms = await Alarms.onHealthy(network.folder, [node], { rules })
  await measure(`a node leaks 8 MiB a second (windows 1/${FACTOR})`, alarms, "UdgMemoryRises", node)
}

/** Half of the weight signs vertices and no checkpoints, so rounds go on without any. */
const withheld = async () => {
  const network = Processes.found({ roundMs: 50, epochRounds: 50_000, checkpointRounds: 100 })
  const honest: Array<Processes.Started> = []
  for (const n of [2, 3]) honest.push(await Processes.startValidator(network, n, honest))
  const [first] = honest
  if (first === undefined) return expect.unreachable()
  let isWithholding = false
  const fires = async () => {
    const alarms = await watched(network, honest)
    await Processes.until("a quorum signs", () => Processes.checkpoints(first).length > 0)
    isWithholding = true
    await measure("two of four withhold checkpoint signatures", alarms, "UdgCheckpointAge", first)
  }
  // Built apart from each other: within one build, both would share the same engine.
  const members = Effect.forEach([0, 1], (n) => Layer.build(withholder(network, n, honest, () => isWithholding)))
  await Effect.runPromise(Effect.scoped(Effect.zipRight(members, Effect.promise(fires))))
}

describe.runIf(isInstalled())("a real failure fires its alert", () => {
  it("a full mempool", fullMempool, LIMIT_MS)

  it("a machine that is too busy", busyMachine, LIMIT_MS)

  it.runIf(isTried("strace", "-V"))("a slow disk", slowDisk, LIMIT_MS)

  it("checkpoints without a quorum", withheld, LIMIT_MS)

  it("a leak", leak, LIMIT_MS)
})
