/** Four validators go from the last release to this program, one after the other, under load; and a way back is refused. */
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { get } from "node:http"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { json } from "node:stream/consumers"
import { promisify } from "node:util"
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import { Sqlite } from "../../src/storage/sqlite/Driver.js"
import { expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

/**
 * Until there is a tag: the first commit that speaks this wire. The test builds it from the repository's history; a tarball beside
 * the sources would add two megabytes to every clone for each release, and nobody could see what is in it.
 */
const LAST_RELEASE = "54f299a56169887569fbc2644deaecb85b2632f7"

const root = resolve(import.meta.dirname, "../..")
const LIMIT_MS = 600_000
const PAYMENT_MS = 100
/** As long as a wallet waits before it sends a transaction again. */
const PATIENCE_MS = 10_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let release = ""

beforeAll(async () => {
  release = mkdtempSync(join(tmpdir(), "udg-release-"))
  const archive = execFileSync("git", ["archive", LAST_RELEASE], { cwd: root, maxBuffer: 1 << 28 })
  execFileSync("tar", ["-x", "-C", release], { input: archive })
  symlinkSync(join(root, "node_modules"), join(release, "node_modules"))
  // Not at one go: Vitest takes a thread that reads no message for a minute for dead.
  await promisify(execFile)(process.execPath, ["scripts/build.mjs"], { cwd: release })
}, LIMIT_MS)

afterAll(() => rmSync(release, { recursive: true, force: true }))
afterEach(Processes.removeAll)

const programOf = () => join(release, "dist/main.js")
const WORDS = ["--rate-limits", "off"]

/** Pays until it is told to stop, at each of the nodes in turn; what one did not take is given to the next. Returns how many. */
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
 * What a wallet does that waits for its transaction: those that are not final after a while are sent again, as they were. A node
 * closes a connection that was kept too long, and what goes out on it just then fails: that is for the next time.
 */
const sendAgain = async (network: Processes.Founded, node: Processes.Started, sent: ReadonlyArray<Hash>) => {
  let again = 0
  for (const id of Processes.notRecorded(node, sent))
    again += (await Wallet.pay(node, network, 1, sent.indexOf(id)).catch(() => [])).length
  return again
}

/** By a connection of its own: reading databases has kept this process busy, and it may not know yet which others are closed. */
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

describe("four validators of the last release", () => {
  it(
    "become this program one after the other under load: no transaction is lost, and finality goes on",
    async () => {
      const network = Processes.found({ roundMs: 250, epochRounds: 240 })
      const way = { execArgv: [], environment: {}, program: programOf() }
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
      // Three of four go on without the fourth, so that is not the time of a restart.
      expect(gapMs).toBeLessThan(30_000)
    },
    LIMIT_MS,
  )

  it(
    "do not open what a newer program has migrated, and say so in one line",
    async () => {
      const network = Processes.found({ roundMs: 250 })
      const [node] = await Processes.startAll(network)
      if (node === undefined) return expect.unreachable()
      await node.stop()
      const database = new Sqlite(join(node.directory, "udg.db"), { readonly: false })
      database.prepare("pragma user_version = 99").run()
      database.close()
      const key = join(network.folder, "0.key")
      const words = [programOf(), "--data-dir", node.directory, "--validator-key", key, "--port", "0"]
      const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" })
      expect(status).toBe(1)
      expect(stderr.trim().split("\n").at(-1)).toMatch(
        /^udg: .*udg\.db has schema 99, this program knows up to 6; run the newer/,
      )
    },
    LIMIT_MS,
  )
})
