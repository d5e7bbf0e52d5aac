/** What each validator of a network takes, idle and with payments. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import process from "node:process"
import { setTimeout as sleep } from "node:timers/promises"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Processes from "../test/network/Processes.js"
import type { Figure } from "./Harness.js"
import * as Payments from "./Payments.js"
import { cpuMs } from "./ProcessorTime.js"
import * as Usage from "./Usage.js"
import * as Yardstick from "./Yardstick.js"

export interface Wish {
  readonly validators: number
  readonly roundMs: number
  /** Transfers a second, one after the other. */
  readonly rates: ReadonlyArray<number>
}

export const SENDERS = 1_000
export const BALANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)
/** As many rounds as an epoch of an hour has. */
export const EPOCH_ROUNDS = 36_000
export const CHECKPOINT_ROUNDS = 100
export const PHASE_MS = 45_000
const LEAST_ROUNDS = 12
export const WARM_UP_MS = 15_000
const BATCH_MS = 100

/** Kept with history, by table and index; the rest goes with the vertices. */
const KEPT = /^(transaction_|account_history|account_postings|commits)/
const OF_VERTICES = /^(vertices|vertex_)/

const sum = (values: Iterable<number>): number => [...values].reduce((all, one) => all + one, 0)

const COUNTED = /^udg_network_message(s|_bytes)_total\{direction="(\w+)",kind="\w+",class="\w+"\} (\d+)$/gm

/** Messages between nodes, and their bytes, of one node so far. */
const trafficOf = async ({ http }: Processes.Started) => {
  const counts = [...(await (await fetch(`${http}/metrics`)).text()).matchAll(COUNTED)]
  const of = (what: string, way: string): number =>
    sum(counts.flatMap(([, kind, direction, count]) => (kind === what && direction === way ? [Number(count)] : [])))
  return { sent: of("_bytes", "sent"), received: of("_bytes", "received"), messages: of("s", "sent") }
}

interface Counts {
  readonly at: number
  readonly rounds: number
  readonly final: number
  readonly cpu: number
  readonly written: number
  readonly sent: number
  readonly received: number
  readonly messages: number
  /** Before and after the node was asked for its counts, which is no traffic between nodes. */
  readonly loopback: { readonly before: number; readonly after: number }
  readonly calls: Usage.Calls
  readonly kept: number
  readonly ofVertices: number
  readonly signed: number
}

/** Means of the nodes; system calls are those of the traced first one, which is in no mean. */
const countsOf = async (log: string, nodes: ReadonlyArray<Processes.Started>): Promise<Counts> => {
  const [, second] = nodes
  if (second === undefined) throw new Error("two validators are needed")
  const others = nodes.slice(1)
  const mean = (of: (node: Processes.Started) => number): number => sum(others.map(of)) / others.length
  const loopback = Usage.loopbackBytes()
  const traffic = await Promise.all(others.map(trafficOf))
  const tables = Usage.tablesIn(second.directory, "udg.db")
  const bytesOf = (which: RegExp): number => sum([...tables].flatMap(([name, n]) => (which.test(name) ? [n] : [])))
  return {
    at: performance.now(),
    rounds: Processes.finalizedRound(second),
    final: Processes.recorded(second),
    cpu: mean(cpuMs),
    written: mean(Usage.writtenBytes),
    sent: sum(traffic.map(({ sent }) => sent)) / others.length,
    received: sum(traffic.map(({ received }) => received)) / others.length,
    messages: sum(traffic.map(({ messages }) => messages)) / others.length,
    loopback: { before: loopback, after: Usage.loopbackBytes() },
    calls: Usage.callsIn(log),
    kept: bytesOf(KEPT),
    ofVertices: bytesOf(OF_VERTICES),
    signed: Usage.tablesIn(second.directory, "signed.db").get("own_vertices") ?? 0,
  }
}

const figuresOf = (name: string, members: number, before: Counts, after: Counts, memory: number) => {
  const seconds = (after.at - before.at) / 1_000
  const since = (of: (counts: Counts) => number): number => of(after) - of(before)
  const figure = (what: string, value: number, unit: string): Figure => ({ name: `${name}: ${what}`, value, unit })
  const [rounds, final] = [since((c) => c.rounds), since((c) => c.final)]
  const all = [
    figure("rounds", rounds / seconds, "a second"),
    figure("final", final / seconds, "a second"),
    figure("processor", since((c) => c.cpu) / seconds, "ms a second"),
    figure("sent", since((c) => c.sent) / seconds, "bytes a second"),
    figure("received", since((c) => c.received) / seconds, "bytes a second"),
    figure("messages sent", since((c) => c.messages) / seconds, "a second"),
    figure("syncs", since((c) => c.calls.syncs) / seconds, "a second"),
    figure("writes", since((c) => c.calls.writes) / seconds, "a second"),
    figure("written by these", since((c) => c.calls.bytes) / seconds, "bytes a second"),
    figure("given to the disk", since((c) => c.written) / seconds, "bytes a second"),
    figure("memory", memory, "MiB"),
    figure("vertices in udg.db", since((c) => c.ofVertices) / (rounds * members), "bytes each"),
    figure("own vertices in signed.db", since((c) => c.signed) / rounds, "bytes each"),
  ]
  if (final > 0) return [...all, figure("kept with history", since((c) => c.kept) / final, "bytes a transfer")]
  // Only an idle network has nothing but its own traffic on loopback.
  const loopback = (after.loopback.before - before.loopback.after) / members
  const each = (loopback - since((c) => c.sent)) / since((c) => c.messages)
  return [...all, figure("headers and encryption", each, "bytes a message")]
}

/** Pays at this rate, and returns once all payments are accepted. */
export const offer = async (clients: ReadonlyArray<Payments.Client>, rate: number, ms: number): Promise<void> => {
  const each = rate / clients.length
  const began = performance.now()
  let offered = 0
  while (performance.now() - began < ms) {
    await sleep(BATCH_MS)
    const due = Math.floor(((performance.now() - began) / 1_000) * each)
    for (const client of clients) {
      client.prepare(due - offered)
      client.offer(due - offered)
    }
    offered = due
  }
  for (const client of clients) await client.settled()
}

const isTraceable = (): boolean => spawnSync("strace", ["-V"]).status === 0

const measured = async ({ validators, roundMs, rates }: Wish): Promise<ReadonlyArray<Figure>> => {
  if (!isTraceable()) throw new Error("strace, which counts syncs, is not installed")
  const senders = Payments.senders(SENDERS)
  const network = Processes.found({
    ...{ validators, roundMs, epochRounds: EPOCH_ROUNDS, checkpointRounds: CHECKPOINT_ROUNDS },
    allocations: senders.map(({ address }) => ({ address, amount: BALANCE })),
  })
  try {
    const log = join(network.folder, "calls")
    const way = { ...Processes.DIRECT, node: "strace", execArgv: [...Usage.traced(log), process.execPath] }
    const nodes: Array<Processes.Started> = []
    for (const n of network.keys.keys()) {
      const own = n === 0 ? way : Processes.DIRECT
      nodes.push(await Processes.startValidator(network, n, nodes, ["--rate-limits", "off"], "warn", own))
    }
    await Processes.everybodyAt(nodes, 5)
    const clients = Payments.clients(network, nodes, senders, false)
    const ms = Math.max(PHASE_MS, 2 * LEAST_ROUNDS * roundMs)
    const all: Array<Figure> = []
    for (const rate of rates) {
      const run = (forMs: number) => (rate === 0 ? sleep(forMs) : offer(clients, rate, forMs))
      await run(WARM_UP_MS)
      const before = await countsOf(log, nodes)
      await run(ms)
      const after = await countsOf(log, nodes)
      const memory = sum(nodes.slice(1).map(Usage.memoryMiB)) / (validators - 1)
      const name = `${validators} validators, ${rate === 0 ? "idle" : `${rate} a second`}`
      all.push(...figuresOf(name, validators, before, after, memory))
    }
    await Promise.all(nodes.map((node) => node.stop()))
    return all
  } finally {
    await Processes.removeAll()
  }
}

/** With the machine's speed meanwhile. */
export const figures = async (wish: Wish): Promise<ReadonlyArray<Figure>> => {
  const { all, signatureUs } = await Yardstick.beside(async () => ({ all: await measured(wish) }))
  const name = `${wish.validators} validators: a signature check`
  return [...all, { name, value: signatureUs, unit: "µs of processor" }]
}
