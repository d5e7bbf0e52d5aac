/**
 * Each alert fires at the failure it is meant for: real validators, a real Prometheus with the shipped rules, and real
 * failures, one after the other. Prints the time from cause to alert. Takes half an hour, since a full disk is reported
 * only after ten minutes.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { Alarms, endAll, isInstalled, LIMIT_MS, measure, PATIENCE_MS, printTable } from "./Alarms.js"
import { equivocator } from "./Equivocator.js"
import { Lines } from "./Lines.js"
import * as Processes from "./Processes.js"

const mounted: Array<string> = []
let lines: Lines | undefined

const watched = async (network: Processes.Founded, nodes: ReadonlyArray<Processes.Started>): Promise<Alarms> => {
  await Processes.everybodyAt(nodes, 5)
  return Alarms.onHealthy(network.folder, nodes)
}

const canMount = spawnSync("mount", ["-V"]).status === 0 && process.getuid?.() === 0

afterEach(async () => {
  await endAll()
  lines?.close()
  for (const directory of mounted.splice(0)) spawnSync("umount", ["--lazy", directory])
  await Processes.removeAll()
})

afterAll(printTable)

/** A clock that drifts. */
const wrongClock = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const file = join(network.folder, "clock")
  writeFileSync(file, "0")
  const stepped = ["--import", resolve(import.meta.dirname, "steppedClock.mjs")]
  const nodes: Array<Processes.Started> = []
  for (const n of network.keys.keys()) {
    const way = { execArgv: n === 3 ? stepped : [], environment: n === 3 ? { UDG_CLOCK_FILE: file } : {} }
    nodes.push(await Processes.startValidator(network, n, nodes, [], undefined, way))
  }
  const alarms = await watched(network, nodes)
  const last = nodes[3]
  if (last === undefined) return expect.unreachable()
  writeFileSync(file, "10000")
  await measure("the clock of one of four is set ten seconds ahead", alarms, "UdgClockOff", last)
}

/** A disk that fills up, on a private file system. */
const fullDisk = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const directory = join(network.folder, "node-3")
  mkdirSync(directory, { mode: 0o700 })
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512m,mode=0700", "tmpfs", directory])
  mounted.push(directory)
  const nodes = await Processes.startAll(network)
  const alarms = await watched(network, nodes)
  const last = nodes[3]
  if (last === undefined) return expect.unreachable()
  const ballast = join(directory, "ballast")
  const filling = setInterval(() => appendFileSync(ballast, Buffer.alloc(262_144, 1)), 1_000)
  try {
    await measure("a disk fills by 256 KiB a second", alarms, "UdgDiskFull", last)
  } finally {
    clearInterval(filling)
  }
  spawnSync("sh", ["-c", `cat /dev/zero >> ${ballast}`])
  expect(await last.ended).toBe(1)
  await measure("the disk is full, and the node ends with 1", alarms, "UdgDown", last)
}

/** A partition of two and two. */
const partition = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const opened = await Lines.open()
  lines = opened
  const nodes = await Processes.startAllVia(network, opened)
  const alarms = await watched(network, nodes)
  const [first] = nodes
  if (first === undefined) return expect.unreachable()
  opened.cut((from, to) => ["0", "1"].includes(from) !== ["0", "1"].includes(to))
  const failure = "a partition, two and two"
  await Promise.all(["UdgFinalityStands", "UdgValidatorSilent"].map((alert) => measure(failure, alarms, alert, first)))
}

/** One of four, whose packets are lost. Its peers only notice its silence. */
const cutOff = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const opened = await Lines.open()
  lines = opened
  const nodes = await Processes.startAllVia(network, opened)
  const alarms = await watched(network, nodes)
  const [first, ...others] = nodes
  if (first === undefined) return expect.unreachable()
  opened.cut((from, to) => (from === "0") !== (to === "0"))
  const failure = "the lines of one of four fall silent"
  await measure(failure, alarms, "UdgPeerCount", first)
  for (const other of others) expect(await alarms.isFiring("UdgPeerCount", other)).toBe(false)
  opened.heal()
  await Processes.until("it has its peers again", async () => !(await alarms.isFiring("UdgPeerCount", first)))
}

/** The last of four, stopped and restarted at the address that Prometheus scrapes. */
const startedAgain = (
  network: Processes.Founded,
  nodes: ReadonlyArray<Processes.Started>,
  last: Processes.Started,
): Promise<Processes.Started> =>
  Processes.startValidator(network, 3, nodes, ["--rpc-port", new URL(last.http ?? "").port])

/** It lost its disk, but has its key, and waits until it cannot sign anything twice: 120 intervals. */
const silentValidator = async () => {
  const network = Processes.found({ roundMs: 4_000, epochRounds: 2_000 })
  const nodes = [...(await Processes.startAll(network))]
  const alarms = await watched(network, nodes)
  const last = nodes.pop()
  if (last === undefined) return expect.unreachable()
  await last.kill()
  rmSync(last.directory, { recursive: true })
  const again = await startedAgain(network, nodes, last)
  const failure = "a validator comes back without its data, and is silent"
  await measure(failure, alarms, "UdgValidatorSilent", again)
}

/** It is away for the second half of an epoch, and returns in an epoch without a seat. */
const lostSeat = async () => {
  const network = Processes.found({ roundMs: 150, epochRounds: 2_000 })
  const nodes = [...(await Processes.startAll(network))]
  const alarms = await watched(network, nodes)
  const last = nodes.pop()
  const [first] = nodes
  if (last === undefined || first === undefined) return expect.unreachable()
  await last.kill()
  const seats = async () =>
    /^udg_committee_members (\d+)$/m.exec(await (await fetch(`${first.http}/metrics`)).text())?.[1]
  await Processes.until("its seat is gone", async () => (await seats()) === "3", PATIENCE_MS)
  const again = await startedAgain(network, nodes, last)
  const failure = "a validator comes back after half an epoch, and has lost its seat"
  await measure(failure, alarms, "UdgValidatorWithoutSeat", again)
}

/** It is killed as soon as it serves. */
const restarting = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const nodes = [...(await Processes.startAll(network))]
  const alarms = await watched(network, nodes)
  let last = nodes.pop()
  if (last === undefined) return expect.unreachable()
  const failure = "a validator is killed and started again, three times in a minute"
  const fires = measure(failure, alarms, "UdgRestarts", last)
  for (let n = 0; n < 3; n++) {
    await last.kill()
    last = await startedAgain(network, nodes, last)
    // Until Prometheus notices.
    await sleep(15_000)
  }
  await fires
}

const twoFaced = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const honest: Array<Processes.Started> = []
  for (const n of [1, 2, 3]) honest.push(await Processes.startValidator(network, n, honest))
  const [first] = honest
  if (first === undefined) return expect.unreachable()
  const alarms = await Alarms.onHealthy(network.folder, honest)
  const fires = measure("one of four signs two vertices a round", alarms, "UdgEquivocation", first)
  await Effect.runPromise(
    Effect.provide(
      Effect.promise(() => fires),
      equivocator(network, honest),
    ),
  )
}

describe.runIf(isInstalled())("a real failure fires its alert", () => {
  it("an equivocator", twoFaced, LIMIT_MS)

  it("a node that is cut off", cutOff, LIMIT_MS)

  it("a wrong clock", wrongClock, LIMIT_MS)

  it("a partition", partition, LIMIT_MS)

  it("a silent validator", silentValidator, LIMIT_MS)

  it("a validator that has lost its seat", lostSeat, LIMIT_MS)

  it("a node that starts again and again", restarting, LIMIT_MS)

  it.runIf(canMount)("a full disk", fullDisk, LIMIT_MS)
})
