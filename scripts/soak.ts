// `npm run soak`: runs four validators on this machine under 20 or UDG_SOAK_TRANSFERS transfers a second and samples
// each one's memory, file descriptors, disk and log, for six hours or UDG_SOAK_MINUTES; Ctrl-C ends it earlier. Prints a
// table with the change per hour and writes every sample to a file. Nodes take their settings from the environment. With
// UDG_SOAK_VISITORS=on, full nodes join and leave meanwhile, and strangers connect and send nonsense.
import { spawn } from "node:child_process"
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Client from "../src/client/Client.js"
import * as Wallet from "../src/client/Wallet.js"
import { type Sample, table } from "./soak/Samples.js"
import * as Visitors from "./soak/Visitors.js"

const MINUTES = Number(process.env["UDG_SOAK_MINUTES"] ?? 360)
const SAMPLE_MS = 60_000
const VALIDATORS = 4
/** Each node gets its share of the transfers. */
const TRANSFER_MS = (1_000 * VALIDATORS) / Number(process.env["UDG_SOAK_TRANSFERS"] ?? 20)
const AFTER_REFUSAL_MS = 5_000

const program = process.env["UDG_SOAK_PROGRAM"] ?? resolve(import.meta.dirname, "../dist/main.js")
const directory = mkdtempSync(join(tmpdir(), "udg-soak-"))
const samplesFile = process.env["UDG_SOAK_SAMPLES"] ?? join(tmpdir(), "udg-soak.jsonl")

const ended = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ended.abort())

const start = async () => {
  const words = ["localnet", "--validators", String(VALIDATORS), "--port", "0", "--dir", directory]
  // In its own process group: Ctrl-C ends the measurement first, then the network.
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "inherit"], detached: true })
  child.once("exit", () => ended.abort())
  process.once("exit", () => child.kill("SIGTERM"))
  let said = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text
  })
  while (!said.includes("Ctrl-C") && !ended.signal.aborted) await sleep(100)
  const urls = [...said.matchAll(/^ +node-\d+ +(http:\S+)/gm)].flatMap(([, url]) => url ?? [])
  return { child, urls }
}

/** Each node's process, found by the directory in its command line. */
const processesOf = (parent: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8")
    .trim()
    .split(" ")
    .map((pid) => ({ pid, words: readFileSync(`/proc/${pid}/cmdline`, "utf8") }))
    .sort((a, b) => (a.words < b.words ? -1 : 1))
    .map(({ pid }) => Number(pid))

/** SQLite can delete a file meanwhile. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

const measured = (metrics: string, series: string): number =>
  Number(new RegExp(`^${series} (\\S+)$`, "m").exec(metrics)?.[1])

const sample = async (minute: number, node: number, pid: number, url: string): Promise<Sample> => {
  const own = join(directory, `node-${node}`)
  const files = readdirSync(own, { recursive: true, encoding: "utf8" }).filter((file) => file !== "node.log")
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return {
    minute,
    node,
    round: measured(metrics, "udg_finalized_round"),
    residentKib: Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]),
    heapBytes: measured(metrics, "nodejs_heap_size_used_bytes"),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    dataBytes: files.reduce((sum, file) => sum + sizeOf(join(own, file)), 0),
    logBytes: sizeOf(join(own, "node.log")),
    writtenBytes: Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]),
  }
}

/** Pays from an account of the node's own, so that no node waits for what another has been told. Returns the number. */
const payAt = async (client: Client.PromiseClient, payer: Wallet.Account, to: string): Promise<number> => {
  let nonce = 0
  let sent = 0
  while (!ended.signal.aborted) {
    const next = sleep(TRANSFER_MS)
    try {
      const payload = payer.transfer({ to, amount: Wallet.sats("0.001"), fee: 1_000, nonce })
      await client.transactions.submit({ payload })
      nonce += 1
      sent += 1
    } catch (error) {
      console.error(`transfer ${nonce} was refused: ${String(error)}`)
      await sleep(AFTER_REFUSAL_MS)
      const balance = await client.core.balance({ path: { address: payer.addressBech32 } })
      nonce = balance.next_nonce
    }
    await next
  }
  return sent
}

const pay = async (urls: ReadonlyArray<string>): Promise<number> => {
  const clients = urls.map((url) => Client.connect(url))
  const [first] = clients
  if (first === undefined) return 0
  const info = await first.core.network()
  const network = Wallet.network(info)
  const key = Wallet.secretKey(readFileSync(join(directory, "node-0", "faucet.key"), "utf8").trim())
  const faucet = Wallet.account(network, key)
  const payers = clients.map(() => Wallet.account(network, Wallet.generate()))
  const fee = Wallet.fee(info, "Transfer", { exists: false })
  for (const [nonce, { addressBech32: to }] of payers.entries())
    await first.sendAndWait(faucet.transfer({ to, amount: Wallet.sats("1000"), fee, nonce }))
  const to = faucet.addressBech32
  const sent = await Promise.all(payers.map((payer, node) => payAt(clients[node] ?? first, payer, to)))
  return sent.reduce((sum, count) => sum + count)
}

/** The first node's address, which the other nodes were started with. */
const peerOf = (pid: number | undefined): string => {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
  return words[words.indexOf("--peer") + 1] ?? ""
}

const { child, urls } = await start()
const samples: Array<Sample> = []
if (existsSync(samplesFile)) rmSync(samplesFile)
const paying = pay(urls)
const beganAt = Date.now()
setTimeout(() => ended.abort(), MINUTES * 60_000).unref()
const pids = processesOf(child.pid ?? 0)
const visits: Visitors.Visits = { joined: 0, failed: 0, strangers: 0 }
const visited = { program, genesis: join(directory, "genesis.json"), peer: peerOf(pids[1]) }
const visiting =
  process.env["UDG_SOAK_VISITORS"] === "on" ? Visitors.come(visited, visits, ended.signal) : Promise.resolve()
try {
  while (!ended.signal.aborted) {
    await sleep(SAMPLE_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    if (ended.signal.aborted) break
    const minute = Math.round((Date.now() - beganAt) / 60_000)
    for (const [node, pid] of pids.entries()) {
      try {
        const taken = await sample(minute, node, pid, urls[node] ?? "")
        samples.push(taken)
        appendFileSync(samplesFile, `${JSON.stringify(taken)}\n`)
      } catch (error) {
        console.error(`minute ${minute}: node-${node} gave no sample: ${String(error)}`)
      }
    }
  }
} finally {
  ended.abort()
  const [sent] = await Promise.all([paying, visiting])
  const minutes = samples.at(-1)?.minute ?? 0
  console.log(`${minutes} minutes, ${sent} transfers; every sample is in ${samplesFile}\n`)
  if (visits.strangers > 0) {
    const { joined, failed, strangers } = visits
    console.log(
      `visitors: ${joined} full nodes joined and left, ${failed} found nothing final, ${strangers} strangers\n`,
    )
  }
  console.log(table(samples))
  child.kill("SIGTERM")
  await new Promise((resolve) => (child.exitCode === null ? child.once("exit", resolve) : resolve(undefined)))
  rmSync(directory, { recursive: true, force: true })
}
