/**
 * Four validators are upgraded from the last release to this program one after the other, under load. The downgrade is
 * refused.
 */
import { spawnSync } from "node:child_process"
import { get } from "node:http"
import { join } from "node:path"
import { json } from "node:stream/consumers"
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import * as Versions from "../../src/node/start/Versions.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import { expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"
import * as Releases from "./Releases.js"
import * as Wallet from "./Wallet.js"

const LAST = Releases.names.at(-1) ?? ""
const PAYMENT_MS = 100
/** How long a wallet waits before it sends a transaction again. */
const PATIENCE_MS = 10_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let release: Releases.Unpacked

beforeAll(() => {
  release = Releases.unpack(LAST)
})

afterAll(() => release.remove())
afterEach(Processes.removeAll)

const WORDS = ["--rate-limits", "off"]

/**
 * Pays until told to stop, at each node in turn. The next node gets what one did not accept. Returns the number of
 * payments.
 */
const paying = (network: Processes.Founded, nodes: () => ReadonlyArray<Processes.Started>) => {
  const sent: Array<Hash> = []
  let isOver = false
  const run = async () => {
    for (let tried = 0; !isOver; tried++) {
      const all = nodes()
      const node = all[tried % all.length]
      const paid = node === undefined ? [] : await Wallet.pay(node, network, 1, sent.length).catch(() => [])
      sent.push(...paid)
      await sleep(PAYMENT_MS)
    }
    return sent
  }
  const ended = run()
  return {
    stop: () => {
      isOver = true
      return ended
    },
  }
}

/**
 * Repeats transactions that are not final after a while, as a waiting wallet does. A node closes connections that were
 * idle too long, and a request sent just then fails: the next call repeats it.
 */
const sendAgain = async (network: Processes.Founded, node: Processes.Started, sent: ReadonlyArray<Hash>) => {
  let again = 0
  for (const id of Processes.notRecorded(node, sent))
    again += (await Wallet.pay(node, network, 1, sent.indexOf(id)).catch(() => [])).length
  return again
}

/** Over a new connection: this process was busy reading databases, and may not have noticed that others were closed. */
const statusOf = ({ http }: Processes.Started): Promise<unknown> =>
  new Promise((resolve, reject) => {
    get(`${http}/status`, { agent: false }, (answer) => resolve(json(answer))).once("error", reject)
  })

/** The longest time in which no node finalized a round. */
const watching = (nodes: () => ReadonlyArray<Processes.Started>) => {
  let round = 0
  let changedAt = performance.now()
  let longestMs = 0
  const timer = setInterval(() => {
    const now = Math.max(...nodes().map(Processes.finalizedRound))
    longestMs = Math.max(longestMs, performance.now() - changedAt)
    if (now === round) return
    round = now
    changedAt = performance.now()
  }, 50)
  const stop = () => clearInterval(timer)
  onTestFinished(stop)
  return () => {
    stop()
    return longestMs
  }
}

describe(`four validators of the release ${LAST}`, () => {
  it("are upgraded one after the other under load, without losing a transaction or finality", async () => {
    const network = Processes.found({ roundMs: 250, epochRounds: 240 })
    const way = { ...Processes.DIRECT, program: release.program }
    const nodes: Array<Processes.Started> = []
    for (const n of network.keys.keys())
      nodes.push(await Processes.startValidator(network, n, nodes, WORDS, undefined, way))
    await Processes.everybodyAt(nodes, 5)
    let reachable = [...nodes]
    const payer = paying(network, () => reachable)
    const longestGap = watching(() => reachable)
    for (const n of nodes.keys()) {
      const old = nodes[n]
      if (old === undefined) return expect.unreachable()
      reachable = nodes.filter((each) => each !== old)
      await old.stop()
      nodes[n] = await Processes.startValidator(network, n, reachable, WORDS)
      reachable = [...nodes]
      await Processes.everybodyAt(nodes, Math.max(...nodes.map(Processes.finalizedRound)) + 10)
    }
    const gapMs = longestGap()
    const sent = await payer.stop()
    expect(sent.length).toBeGreaterThan(20)
    const [first] = nodes
    if (first === undefined) return expect.unreachable()
    let again = 0
    await Processes.until("all are final everywhere", async () => {
      await sleep(PATIENCE_MS)
      if (nodes.every((node) => Processes.notRecorded(node, sent).length === 0)) return true
      again += await sendAgain(network, first, sent)
      return false
    })
    await expectOneHistory(nodes, Math.min(...nodes.map(Processes.finalizedRound)) - 5)
    process.stderr.write(
      `${sent.length} transactions, none lost, ${again} sent again; finality's longest gap: ${(gapMs / 1_000).toFixed(2)} s\n`,
    )
    for (const node of nodes) {
      expect(await statusOf(node)).toMatchObject({ versions: { protocol: 3, wire: 3 } })
    }
    // Three of four continue without the fourth, so this is not the length of a restart.
    expect(gapMs).toBeLessThan(60_000)
  })

  it("do not open what this program has migrated, and say so in one line", async () => {
    const network = Processes.found({ roundMs: 250 })
    const [node] = await Processes.startAll(network)
    if (node === undefined) return expect.unreachable()
    await node.stop()
    const { program, versions } = release
    const { database } = Versions.of("")
    expect(versions.database).toBeLessThan(database)
    const key = join(network.folder, "0.key")
    const words = [program, "--data-dir", node.directory, "--validator-key", key, "--port", "0"]
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" })
    expect(status).toBe(1)
    const finding = `udg.db has schema ${database}, this program knows up to ${versions.database}; run the newer`
    expect(stderr.trim().split("\n").at(-1)).toMatch(new RegExp(`^udg: .*${finding}`))
  })
})
