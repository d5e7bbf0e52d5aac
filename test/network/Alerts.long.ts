/**
 * Each alert fires at the failure it is meant for: real validators, a real Prometheus with the shipped rules, and real
 * failures, one after the other. Prints the time from cause to alert. Takes half an hour, since a full disk is reported
 * only after ten minutes.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { Running } from "../blackbox/Running.js"
import { isTried, pathOf, yamlOf } from "../ops/Kit.js"
import { equivocator } from "./Equivocator.js"
import { Lines } from "./Lines.js"
import * as Processes from "./Processes.js"

const LIMIT_MS = 1_500_000
const PATIENCE_MS = 1_200_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const freePort = (): Promise<number> =>
  new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => found(address !== null && typeof address === "object" ? address.port : 0))
    })
  })

const hostOf = ({ http }: Processes.Started): string => new URL(http ?? "").host

interface Alert {
  readonly state: string
  readonly labels: { readonly alertname: string; readonly instance: string }
}

/** A Prometheus with the rules and the intervals of ops/. */
class Prometheus {
  readonly url: string
  readonly process: Running

  private constructor(url: string, process: Running) {
    this.url = url
    this.process = process
  }

  static async start(folder: string, nodes: ReadonlyArray<Processes.Started>): Promise<Prometheus> {
    const shipped = yamlOf("prometheus/prometheus.yml") as { readonly global: object }
    const configuration = {
      global: shipped.global,
      rule_files: [pathOf("prometheus/alerts.yml")],
      scrape_configs: [{ job_name: "udg", static_configs: [{ targets: nodes.map(hostOf) }] }],
    }
    const file = join(folder, "prometheus.yml")
    // JSON is YAML too.
    writeFileSync(file, JSON.stringify(configuration))
    const address = `127.0.0.1:${await freePort()}`
    const words = ["--config.file", file, "--storage.tsdb.path", join(folder, "tsdb"), "--web.listen-address", address]
    const process = new Running("prometheus", words)
    const prometheus = new Prometheus(`http://${address}`, process)
    await process.until(() =>
      prometheus.alerts().then(
        () => true,
        () => false,
      ),
    )
    return prometheus
  }

  async alerts(): Promise<ReadonlyArray<Alert>> {
    const answer = (await (await fetch(`${this.url}/api/v1/alerts`)).json()) as {
      readonly data: { readonly alerts: ReadonlyArray<Alert> }
    }
    return answer.data.alerts
  }

  async isFiring(name: string, node: Processes.Started): Promise<boolean> {
    return (await this.alerts()).some(
      ({ state, labels }) => state === "firing" && labels.alertname === name && labels.instance === hostOf(node),
    )
  }

  /** Seconds until this alert fires for this node. */
  async fires(name: string, node: Processes.Started): Promise<number> {
    const began = performance.now()
    while (performance.now() - began < PATIENCE_MS) {
      if (await this.isFiring(name, node)) return (performance.now() - began) / 1_000
      await sleep(1_000)
    }
    throw new Error(`${name} did not fire`)
  }
}

const running: Array<Prometheus> = []
const measured: Array<readonly [failure: string, alert: string, seconds: number]> = []
const mounted: Array<string> = []
let lines: Lines | undefined

const watched = async (network: Processes.Founded, nodes: ReadonlyArray<Processes.Started>): Promise<Prometheus> => {
  await Processes.everybodyAt(nodes, 5)
  const prometheus = await Prometheus.start(network.folder, nodes)
  running.push(prometheus)
  // Some scrapes of a healthy network: a counter that starts high has not risen.
  await sleep(30_000)
  expect((await prometheus.alerts()).filter(({ state }) => state === "firing")).toEqual([])
  return prometheus
}

const measure = async (failure: string, alert: string, fires: Promise<number>): Promise<void> => {
  measured.push([failure, alert, Math.round(await fires)])
}

const canMount = spawnSync("mount", ["-V"]).status === 0 && process.getuid?.() === 0

afterEach(async () => {
  for (const { process } of running.splice(0)) {
    process.signal("SIGTERM")
    await process.end()
  }
  lines?.close()
  for (const directory of mounted.splice(0)) spawnSync("umount", ["--lazy", directory])
  await Processes.removeAll()
})

afterAll(() => {
  const rows = measured.map(([failure, alert, seconds]) => `| ${failure} | \`${alert}\` | ${seconds} s |`)
  process.stderr.write(`\n| failure | alert | from cause to alert |\n| --- | --- | --- |\n${rows.join("\n")}\n`)
})

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
  const prometheus = await watched(network, nodes)
  const last = nodes[3]
  if (last === undefined) return expect.unreachable()
  writeFileSync(file, "10000")
  await measure(
    "the clock of one of four is set ten seconds ahead",
    "UdgClockOff",
    prometheus.fires("UdgClockOff", last),
  )
}

/** A disk that fills up, on a private file system. */
const fullDisk = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const directory = join(network.folder, "node-3")
  mkdirSync(directory, { mode: 0o700 })
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512m,mode=0700", "tmpfs", directory])
  mounted.push(directory)
  const nodes = await Processes.startAll(network)
  const prometheus = await watched(network, nodes)
  const last = nodes[3]
  if (last === undefined) return expect.unreachable()
  const ballast = join(directory, "ballast")
  const filling = setInterval(() => appendFileSync(ballast, Buffer.alloc(262_144, 1)), 1_000)
  try {
    await measure("a disk fills by 256 KiB a second", "UdgDiskFull", prometheus.fires("UdgDiskFull", last))
  } finally {
    clearInterval(filling)
  }
  spawnSync("sh", ["-c", `cat /dev/zero >> ${ballast}`])
  expect(await last.ended).toBe(1)
  await measure("the disk is full, and the node ends with 1", "UdgDown", prometheus.fires("UdgDown", last))
}

/** A partition of two and two. */
const partition = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const opened = await Lines.open()
  lines = opened
  const nodes = await Processes.startAllVia(network, opened)
  const prometheus = await watched(network, nodes)
  const [first] = nodes
  if (first === undefined) return expect.unreachable()
  opened.cut((from, to) => ["0", "1"].includes(from) !== ["0", "1"].includes(to))
  const failure = "a partition, two and two"
  await Promise.all(
    ["UdgFinalityStands", "UdgValidatorSilent"].map((alert) => measure(failure, alert, prometheus.fires(alert, first))),
  )
}

/** One of four, whose packets are lost. Its peers only notice its silence. */
const cutOff = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const opened = await Lines.open()
  lines = opened
  const nodes = await Processes.startAllVia(network, opened)
  const prometheus = await watched(network, nodes)
  const [first, ...others] = nodes
  if (first === undefined) return expect.unreachable()
  opened.cut((from, to) => (from === "0") !== (to === "0"))
  const failure = "the lines of one of four fall silent"
  await measure(failure, "UdgPeerCount", prometheus.fires("UdgPeerCount", first))
  for (const other of others) expect(await prometheus.isFiring("UdgPeerCount", other)).toBe(false)
  opened.heal()
  await Processes.until("it has its peers again", async () => !(await prometheus.isFiring("UdgPeerCount", first)))
}

/** The last of four, stopped and restarted at the address that Prometheus scrapes. */
const startedAgain = (
  network: Processes.Founded,
  nodes: ReadonlyArray<Processes.Started>,
  last: Processes.Started,
): Promise<Processes.Started> =>
  Processes.startValidator(network, 3, nodes, ["--rpc-port", hostOf(last).split(":")[1] ?? ""])

/** It lost its disk, but has its key, and waits until it cannot sign anything twice: 120 intervals. */
const silentValidator = async () => {
  const network = Processes.found({ roundMs: 4_000, epochRounds: 2_000 })
  const nodes = [...(await Processes.startAll(network))]
  const prometheus = await watched(network, nodes)
  const last = nodes.pop()
  if (last === undefined) return expect.unreachable()
  await last.kill()
  rmSync(last.directory, { recursive: true })
  const again = await startedAgain(network, nodes, last)
  const failure = "a validator comes back without its data, and is silent"
  await measure(failure, "UdgValidatorSilent", prometheus.fires("UdgValidatorSilent", again))
}

/** It is away for the second half of an epoch, and returns in an epoch without a seat. */
const lostSeat = async () => {
  const network = Processes.found({ roundMs: 150, epochRounds: 2_000 })
  const nodes = [...(await Processes.startAll(network))]
  const prometheus = await watched(network, nodes)
  const last = nodes.pop()
  const [first] = nodes
  if (last === undefined || first === undefined) return expect.unreachable()
  await last.kill()
  const seats = async () =>
    /^udg_committee_members (\d+)$/m.exec(await (await fetch(`${first.http}/metrics`)).text())?.[1]
  await Processes.until("its seat is gone", async () => (await seats()) === "3", PATIENCE_MS)
  const again = await startedAgain(network, nodes, last)
  const failure = "a validator comes back after half an epoch, and has lost its seat"
  await measure(failure, "UdgValidatorWithoutSeat", prometheus.fires("UdgValidatorWithoutSeat", again))
}

/** It is killed as soon as it serves. */
const restarting = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const nodes = [...(await Processes.startAll(network))]
  const prometheus = await watched(network, nodes)
  let last = nodes.pop()
  if (last === undefined) return expect.unreachable()
  const fires = prometheus.fires("UdgRestarts", last)
  for (let n = 0; n < 3; n++) {
    await last.kill()
    last = await startedAgain(network, nodes, last)
    // Until Prometheus notices.
    await sleep(15_000)
  }
  await measure("a validator is killed and started again, three times in a minute", "UdgRestarts", fires)
}

const twoFaced = async () => {
  const network = Processes.found({ roundMs: 500, epochRounds: 2_000 })
  const honest: Array<Processes.Started> = []
  for (const n of [1, 2, 3]) honest.push(await Processes.startValidator(network, n, honest))
  const [first] = honest
  if (first === undefined) return expect.unreachable()
  const prometheus = await Prometheus.start(network.folder, honest)
  running.push(prometheus)
  await sleep(30_000)
  const fires = measure(
    "one of four signs two vertices a round",
    "UdgEquivocation",
    prometheus.fires("UdgEquivocation", first),
  )
  await Effect.runPromise(
    Effect.provide(
      Effect.promise(() => fires),
      equivocator(network, honest),
    ),
  )
}

describe.runIf(isTried("prometheus", "--version"))("a real failure fires its alert", () => {
  it("an equivocator", twoFaced, LIMIT_MS)

  it("a node that is cut off", cutOff, LIMIT_MS)

  it("a wrong clock", wrongClock, LIMIT_MS)

  it("a partition", partition, LIMIT_MS)

  it("a silent validator", silentValidator, LIMIT_MS)

  it("a validator that has lost its seat", lostSeat, LIMIT_MS)

  it("a node that starts again and again", restarting, LIMIT_MS)

  it.runIf(canMount)("a full disk", fullDisk, LIMIT_MS)
})
