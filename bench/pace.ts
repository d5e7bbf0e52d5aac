/**
 * Payment latency from submission to the node's finality event: on four validators at several intervals, idle and busy,
 * on a solo node and on development networks. Also the cost of rounds without transactions.
 */
import { request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { Either } from "effect"
import { nodeClock } from "../src/network/tls/NodeClock.js"
import * as Genesis from "../src/protocol/epoch/Genesis.js"
import * as Address from "../src/protocol/identity/Address.js"
import { SecretKey } from "../src/protocol/identity/Keys.js"
import type { NetworkId } from "../src/protocol/identity/Network.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as JsonForm from "../src/protocol/transaction/JsonForm.js"
import * as Transaction from "../src/protocol/transaction/Transaction.js"
import { Connection } from "../src/signer/Connection.js"
import * as Testing from "../src/testing/Testing.js"
import * as Processes from "../test/network/Processes.js"
import * as Signers from "../test/network/Signers.js"
import * as SignerProcess from "../test/signer/SignerProcess.js"
import * as Statements from "../test/signer/Statements.js"
import { type Figure, quantile, type Suite } from "./Harness.js"
import * as Payments from "./Payments.js"
import { cpuMs } from "./ProcessorTime.js"

const PAYMENTS = Number(process.env["UDG_PACE_PAYMENTS"] ?? 200)
/** Between the starts of two payments. */
const APART_MS = 300
const IDLE_MS = 10_000
const INTERVALS_MS = (process.env["UDG_PACE_INTERVALS"] ?? "100,50,250").split(",").map(Number)
const BUSY_RATE = Number(process.env["UDG_PACE_RATE"] ?? 500)
const BATCH_MS = 50
const SENDERS = 400

/** Follows final transactions at one node. */
class Listener {
  readonly #waiting = new Map<string, () => void>()
  readonly #stream: ReturnType<typeof request>

  constructor(url: string) {
    let text = ""
    this.#stream = request(`${url}/events?type=transaction`, (response) => {
      response.setEncoding("utf8")
      response.on("data", (part: string) => {
        text += part
        const end = text.lastIndexOf("\n\n")
        if (end < 0) return
        for (const [, hash = ""] of text.slice(0, end).matchAll(/"hash":"([0-9a-f]{64})"[^\n]*"finalized"/g)) {
          this.#waiting.get(hash)?.()
        }
        text = text.slice(end + 2)
      })
      response.on("error", () => {})
    })
    this.#stream.on("error", () => {})
    this.#stream.end()
  }

  final(hash: string): Promise<void> {
    return new Promise((resolve) =>
      this.#waiting.set(hash, () => {
        this.#waiting.delete(hash)
        resolve()
      }),
    )
  }

  close(): void {
    this.#stream.destroy()
  }
}

/** One account's payments to itself, each submitted alone. */
class Payer {
  readonly #networkId: NetworkId
  readonly #key: SecretKey
  #nonce = 0

  constructor(networkId: NetworkId, key: SecretKey) {
    this.#networkId = networkId
    this.#key = key
  }

  async pay(url: string, listener: Listener): Promise<number> {
    const from = Address.fromPublicKey(this.#key.publicKey)
    const operation = { _tag: "Transfer", to: from, amount: Sats.make(1), memo: "" } as const
    const nonce = Natural.nonce(this.#nonce++)
    const transaction = Transaction.sign(this.#networkId, { from, nonce, fee: Sats.make(1_000), operation }, this.#key)
    const body = JSON.stringify(JsonForm.toJson(transaction))
    const began = performance.now()
    const isFinal = listener.final(transaction.id)
    const response = await fetch(`${url}/tx/submit`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    })
    if (!response.ok) throw new Error(`a payment is refused: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
    await isFinal
    return performance.now() - began
  }
}

/** This many payments, each at the next node. */
const paid = async (urls: ReadonlyArray<string>, payer: Payer, count: number): Promise<ReadonlyArray<number>> => {
  const listeners = urls.map((url) => new Listener(url))
  await sleep(500)
  const taken: Array<number> = []
  let dueAt = performance.now()
  for (let i = 0; i < count; i++) {
    const at = i % urls.length
    const [url, listener] = [urls[at], listeners[at]]
    if (url === undefined || listener === undefined) throw new Error("there is no node")
    taken.push(await payer.pay(url, listener))
    dueAt = Math.max(dueAt + APART_MS, performance.now())
    await sleep(dueAt - performance.now())
  }
  for (const listener of listeners) listener.close()
  return taken
}

const quantiles = (name: string, taken: ReadonlyArray<number>): ReadonlyArray<Figure> =>
  [0.5, 0.9, 0.99].map((part) => ({ name: `${name}: p${part * 100}`, value: quantile(taken, part), unit: "ms" }))

const figuresOf = (name: string, network: Processes.Founded, nodes: ReadonlyArray<Processes.Started>) => {
  const [first] = nodes
  if (first === undefined) throw new Error("there are no nodes")
  const urls = nodes.map(({ http }) => http ?? "")
  const during = async <A>(work: Promise<A>) => {
    const before = { cpu: nodes.map(cpuMs), round: Processes.finalizedRound(first), at: performance.now() }
    const result = await work
    const cpu = nodes.map(cpuMs).reduce((sum, ms, i) => sum + ms - (before.cpu[i] ?? 0), 0) / nodes.length
    const [elapsed, rounds] = [performance.now() - before.at, Processes.finalizedRound(first) - before.round]
    return { result, rounds, perSecond: (rounds * 1_000) / elapsed, cpu, msPerSecond: (cpu * 1_000) / elapsed }
  }
  const payer = new Payer(network.genesis.networkId, network.rich)
  return {
    idle: async (): Promise<ReadonlyArray<Figure>> => {
      const { cpu, rounds, perSecond, msPerSecond } = await during(sleep(IDLE_MS))
      return [
        { name: `${name}, idle: rounds`, value: perSecond, unit: "a second" },
        { name: `${name}, idle: processor, each node`, value: msPerSecond, unit: "ms a second" },
        { name: `${name}, idle: processor, each node`, value: cpu / rounds, unit: "ms a round" },
      ]
    },
    payments: async (what: string): Promise<ReadonlyArray<Figure>> => {
      const { result, perSecond } = await during(paid(urls, payer, PAYMENTS))
      return [
        ...quantiles(`${name}, ${what}`, result),
        { name: `${name}, ${what}: rounds`, value: perSecond, unit: "a second" },
      ]
    },
  }
}

const busy = async (
  network: Processes.Founded,
  nodes: ReadonlyArray<Processes.Started>,
  senders: ReadonlyArray<Payments.Sender>,
  work: () => Promise<ReadonlyArray<Figure>>,
): Promise<ReadonlyArray<Figure>> => {
  const clients = Payments.clients(network, nodes, senders)
  for (const client of clients) client.prepare((BUSY_RATE * PAYMENTS * 2) / nodes.length)
  let isOver = false
  const offering = (async () => {
    const began = performance.now()
    for (let offered = 0; !isOver; await sleep(BATCH_MS)) {
      const due = Math.floor((((performance.now() - began) / 1_000) * BUSY_RATE) / nodes.length)
      for (const client of clients) client.offer(due - offered)
      offered = due
    }
  })()
  try {
    return await work()
  } finally {
    isOver = true
    await offering
    for (const client of clients) await client.settled()
    for (const client of clients) await client.latencies()
  }
}

const ofNodes = async (validators: number, roundMs: number): Promise<ReadonlyArray<Figure>> => {
  const senders = Payments.senders(SENDERS)
  const balance = Sats.make(10 * Sats.SATS_PER_COIN)
  const network = Processes.found({
    validators,
    roundMs,
    epochRounds: 2_400,
    checkpointRounds: 100,
    allocations: senders.map(({ address }) => ({ address, amount: balance })),
  })
  const nodes = await Processes.startAll(network, ["--rate-limits", "off"], "warn")
  await Processes.everybodyAt(nodes, 20)
  const name = `${validators === 1 ? "solo" : `${validators} validators`} at ${roundMs} ms`
  const { idle, payments } = figuresOf(name, network, nodes)
  const warm = await payments("one by one")
  const figures = [...(await idle()), ...warm]
  figures.push(...(await busy(network, nodes, senders, () => payments(`beside ${BUSY_RATE} a second`))))
  await Promise.all(nodes.map((node) => node.stop()))
  await Processes.removeAll()
  return figures
}

/** Starts four validators, each with its own key or with a signer. */
const started = async (network: Processes.Founded, hasSigners: boolean): Promise<ReadonlyArray<Processes.Started>> => {
  if (!hasSigners) return Processes.startAll(network, ["--rate-limits", "off"], "warn")
  const nodes: Array<Processes.Started> = []
  for (const n of network.keys.keys()) {
    const place = Signers.placeOf(network, n)
    await SignerProcess.signFrom(place, "1:1")
    const signer = await SignerProcess.start(place, [Signers.nodeKeyOf(network, String(n))])
    nodes.push(await Signers.startWith(network, signer, String(n), nodes, ["--rate-limits", "off"]))
  }
  return nodes
}

const medianFinality = async (hasSigners: boolean): Promise<number> => {
  const network = Processes.found({ epochRounds: 2_400, checkpointRounds: 100, roundMs: 100 })
  try {
    const nodes = await started(network, hasSigners)
    await Processes.everybodyAt(nodes, 20)
    const payer = new Payer(network.genesis.networkId, network.rich)
    return quantile(
      await paid(
        nodes.map(({ http }) => http ?? ""),
        payer,
        PAYMENTS,
      ),
      0.5,
    )
  } finally {
    SignerProcess.killAll()
    await Processes.removeAll()
  }
}

/** The time for one vertex after the other over one connection: two messages and a write to the signer's disk. */
const signingMs = async (): Promise<number> => {
  const network = Processes.found()
  const [key] = network.keys
  if (key === undefined) throw new Error("there is no key")
  const nodeKey = SecretKey.generate()
  const place = Signers.placeOf(network, 0)
  await SignerProcess.signFrom(place, "1:1")
  const { id, port } = await SignerProcess.start(place, [Signers.nodeKeyOf(network, "0", nodeKey)])
  const genesisHash = Genesis.hash(network.genesis)
  const signer = { host: "127.0.0.1", port, key: id }
  const connection = new Connection({ nodeKey, genesisHash, signer, clock: nodeClock, changed: () => {} })
  try {
    const taken: Array<number> = []
    for (let round = 1; round <= PAYMENTS; round++) {
      const began = performance.now()
      const answer = await connection.sign(key.publicKey, Statements.vertex({ round, key }))
      if (Either.isLeft(answer)) throw new Error(answer.left)
      taken.push(performance.now() - began)
      await sleep(20)
    }
    return quantile(taken, 0.5)
  } finally {
    connection.stop()
    SignerProcess.killAll()
    await Processes.removeAll()
  }
}

/** Signers against local keys in one run, because both depend on the machine's load. */
const ofSigners = async (): Promise<ReadonlyArray<Figure>> => {
  const [local, remote] = [await medianFinality(false), await medianFinality(true)]
  const name = "4 validators at 100 ms, remote signers"
  return [
    { name: `${name}: a vertex's signature, p50`, value: await signingMs(), unit: "ms" },
    { name: `${name}, one by one: p50`, value: remote, unit: "ms" },
    { name: `${name}, one by one: p50, of local keys'`, value: remote / local, unit: "times" },
  ]
}

const ofDev = async (name: string, options: Testing.Options): Promise<ReadonlyArray<Figure>> => {
  const network = await Testing.startNode(options)
  const [account] = network.accounts
  if (account === undefined) throw new Error("the network has no accounts")
  try {
    const payer = new Payer(network.network.networkId, account.secretKey)
    return quantiles(`${name}, one by one`, await paid([network.url], payer, PAYMENTS))
  } finally {
    await network.stop()
  }
}

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const all: Array<Figure> = []
  try {
    for (const roundMs of INTERVALS_MS) all.push(...(await ofNodes(4, roundMs)))
    all.push(...(await ofNodes(1, 100)))
    all.push(...(await ofSigners()))
    all.push(...(await ofDev("embedded", {})))
    all.push(...(await ofDev("embedded, on demand", { onDemand: true })))
    return all
  } finally {
    await Processes.removeAll()
  }
}

export const suite: Suite = { about: "how long a payment takes until it is final, and what empty rounds cost", figures }
