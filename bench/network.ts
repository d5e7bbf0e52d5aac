/**
 * Four validators as processes on this machine, with payments offered at rising rates: payments final per second, their
 * latency and cost. The offering process runs beside them, so figures are low on few cores. Then, the time for a new
 * node to join a network with many accounts.
 */
import { setTimeout as sleep } from "node:timers/promises"
import * as Address from "../src/protocol/identity/Address.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Processes from "../test/network/Processes.js"
import * as Wallet from "../test/network/Wallet.js"
import * as BusyMachine from "./BusyMachine.js"
import { type Figure, quantile, type Suite } from "./Harness.js"
import * as Payments from "./Payments.js"
import { cpuMs } from "./ProcessorTime.js"
import * as Yardstick from "./Yardstick.js"

const VALIDATORS = 4
const ROUND_MS = 250
const SENDERS = 1_000
/** Per second, for two phases: a new process is still being compiled while it runs. */
const WARM_UP_RATE = 400
const RATES = [250, 500, 750, 1_000]
/** The share of the machine used by a busy loop beside the nodes. */
const WITHHELD = 0.4
const PHASE_MS = 15_000
const BATCH_MS = 100
/** At half of the maximum rate, long enough for a percentile to contain several payments. */
const HALF_LOAD_PHASES = 3
/** Until earlier payments are done: no transaction becomes final for this long. */
const QUIET_MS = 2_000
/**
 * Per second and client when nothing else is offered: as many as are followed under load, because that costs the nodes
 * too.
 */
const LEAST_RATE = 2
/** Per second, when one of four validators crashes. */
const CRASH_RATE = 100
const BALANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)

const untilAllIsFinal = async (node: Processes.Started): Promise<void> => {
  for (let before = -1, final = Processes.recorded(node); final > before; final = Processes.recorded(node)) {
    before = final
    await sleep(QUIET_MS)
  }
}

interface Phase {
  readonly elapsed: number
  readonly final: number
  /** Of all nodes, in milliseconds. */
  readonly cpu: number
  readonly latencies: ReadonlyArray<number>
}

/** Offers this many per second. */
const phase = async (
  nodes: ReadonlyArray<Processes.Started>,
  clients: ReadonlyArray<Payments.Client>,
  rate: number,
): Promise<Phase> => {
  const [first] = nodes
  if (first === undefined) throw new Error("there are no nodes")
  const each = Math.max(LEAST_RATE, rate / clients.length)
  for (const client of clients) client.prepare(Math.ceil((each * PHASE_MS) / 1_000))
  const before = { final: Processes.recorded(first), cpu: nodes.map(cpuMs), at: performance.now() }
  let offered = 0
  while (performance.now() - before.at < PHASE_MS) {
    const due = Math.floor(((performance.now() - before.at) / 1_000) * each)
    for (const client of clients) client.offer(due - offered)
    offered = due
    await sleep(BATCH_MS)
  }
  const elapsed = performance.now() - before.at
  const final = Processes.recorded(first) - before.final
  const cpu = nodes.map(cpuMs).reduce((sum, ms, i) => sum + ms - (before.cpu[i] ?? 0), 0)
  const latencies = (await Promise.all(clients.map((client) => client.latencies()))).flat()
  // Unsent payments would add to the next phase's load.
  for (const client of clients) await client.settled()
  return { elapsed, final, cpu, latencies }
}

const figuresOf = (rate: number, { elapsed, final, cpu, latencies }: Phase): ReadonlyArray<Figure> => {
  const name = rate === 0 ? "idle" : `${rate} offered`
  return [
    { name: `${name}: final`, value: (final * 1_000) / elapsed, unit: "a second" },
    { name: `${name}: p50`, value: quantile(latencies, 0.5), unit: "ms" },
    { name: `${name}: p95`, value: quantile(latencies, 0.95), unit: "ms" },
    { name: `${name}: p50`, value: quantile(latencies, 0.5) / ROUND_MS, unit: "round intervals" },
    { name: `${name}: CPU of all nodes`, value: cpu / elapsed, unit: "cores" },
    { name: `${name}: CPU of all nodes`, value: (cpu * 1_000) / Math.max(1, final), unit: "µs a payment" },
  ]
}

/**
 * The cost of the payments themselves, without rounds and followed payments; and the same as K, which `cost.ts`
 * measures under full load.
 */
const besideIdle = (
  rate: number,
  { elapsed, final, cpu }: Phase,
  idle: Phase,
  signatureUs: number,
): ReadonlyArray<Figure> => {
  const idlesPart = elapsed / idle.elapsed
  const each = ((cpu - idle.cpu * idlesPart) * 1_000) / Math.max(1, final - idle.final * idlesPart)
  const name = `${rate} offered: CPU of all nodes beside idle`
  return [
    { name, value: each, unit: "µs a payment" },
    { name, value: each / (VALIDATORS * signatureUs), unit: "signatures a node" },
  ]
}

const payments = async (): Promise<ReadonlyArray<Figure>> => {
  const senders = Payments.senders(SENDERS)
  const network = Processes.found({
    validators: VALIDATORS,
    roundMs: ROUND_MS,
    epochRounds: 240,
    allocations: senders.map(({ address }) => ({ address, amount: BALANCE })),
  })
  const nodes = await Processes.startAll(network, ["--rate-limits", "off"], "warn")
  await Processes.everybodyAt(nodes, 5)
  const [first, ...others] = nodes
  if (first === undefined) throw new Error("there are no nodes")
  const clients = Payments.clients(network, nodes, senders)
  const signatureUs = Yardstick.signatureUs()
  const all: Array<Figure> = []
  for (let i = 0; i < 2; i++) await phase(nodes, clients, WARM_UP_RATE)
  const idle = await phase(nodes, clients, 0)
  all.push(...figuresOf(0, idle))
  let most = 0
  for (const rate of RATES) {
    const measured = await phase(nodes, clients, rate)
    most = Math.max(most, (measured.final * 1_000) / measured.elapsed)
    all.push(...figuresOf(rate, measured), ...besideIdle(rate, measured, idle, signatureUs))
    await untilAllIsFinal(first)
  }
  const halfOfTheMost = async (name: string): Promise<ReadonlyArray<Figure>> => {
    const half: Array<number> = []
    for (let i = 0; i < HALF_LOAD_PHASES; i++) half.push(...(await phase(nodes, clients, most / 2)).latencies)
    await untilAllIsFinal(first)
    return [0.5, 0.99].map((part) => ({
      name: `${name}: p${part * 100}`,
      value: quantile(half, part) / ROUND_MS,
      unit: "round intervals",
    }))
  }
  all.push(...(await halfOfTheMost("half of the most")))
  const busy = `half of the most, ${WITHHELD * 100} % of the machine withheld`
  all.push(...(await BusyMachine.withhold(WITHHELD, () => halfOfTheMost(busy))))
  const healthy = await phase(nodes, clients, CRASH_RATE)
  await first.kill()
  await sleep(5_000)
  const crashed = await phase(others, clients.slice(1), CRASH_RATE)
  const [before, after] = [healthy, crashed].map(({ latencies }) => quantile(latencies, 0.5) / ROUND_MS)
  if (before !== undefined && after !== undefined) {
    const name = `${CRASH_RATE} offered, one of four gone: p50`
    all.push({ name, value: after, unit: "round intervals" })
    all.push({ name, value: after / before, unit: "times that of all four" })
  }
  await Promise.all(others.map((node) => node.stop()))
  return all
}

const JOINED_ACCOUNTS = 100_000
const EPOCH_ROUNDS = 40

/** A new node, from its start until it has executed a commit of the running epoch. */
const fastSync = async (): Promise<ReadonlyArray<Figure>> => {
  const allocations = Array.from({ length: JOINED_ACCOUNTS }, (_, n) => ({
    address: Address.fromPublicKey(Wallet.numbered(n)),
    amount: Sats.make(1_000 + n),
  }))
  const network = Processes.found({ validators: 2, roundMs: ROUND_MS, epochRounds: EPOCH_ROUNDS, allocations })
  const nodes = await Processes.startAll(network, [], "warn")
  await Processes.everybodyAt(nodes, 3 * EPOCH_ROUNDS)
  const [first] = nodes
  if (first === undefined) throw new Error("there are no nodes")
  const began = performance.now()
  const joiner = await Processes.start(network, "joiner", ["--no-validate", "--peer", first.p2p], "warn,sync=info")
  const running = performance.now()
  await Processes.until("it follows", () => Processes.finalizedRound(joiner) > 2 * EPOCH_ROUNDS)
  const joined = performance.now()
  await Promise.all([...nodes, joiner].map((node) => node.stop()))
  const name = `fast sync of ${JOINED_ACCOUNTS} accounts`
  return [
    { name: `${name}: until it runs, at its genesis`, value: (running - began) / 1_000, unit: "s" },
    { name: `${name}: from there until it follows`, value: (joined - running) / 1_000, unit: "s" },
  ]
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  try {
    return [...(await payments()), ...(await fastSync())]
  } finally {
    await Processes.removeAll()
  }
}

export const suite: Suite = {
  about: `four validators on one machine, rounds every ${ROUND_MS} ms, and a node that joins them`,
  figures,
}
