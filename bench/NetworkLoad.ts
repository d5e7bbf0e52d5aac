/** Four validators as processes on this machine, under a steady load. */
import * as Sats from "../src/protocol/numbers/Sats.js"
import type { Way } from "../test/network/Lines.js"
import * as Processes from "../test/network/Processes.js"
import * as Payments from "./Payments.js"

export interface Wish {
  readonly seconds: number
  readonly perSecond: number
  /** How the first of them is started. */
  readonly way: Way
}

const VALIDATORS = 4
const ROUND_MS = 250
const SENDERS = 1_000
const BALANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)
const TICK_MS = 100

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const startAll = async (network: Processes.Founded, way: Way): Promise<ReadonlyArray<Processes.Started>> => {
  const nodes: Array<Processes.Started> = []
  for (let n = 0; n < VALIDATORS; n++) {
    const words = ["--rate-limits", "off"]
    nodes.push(await Processes.startValidator(network, n, nodes, words, "warn", n === 0 ? way : undefined))
  }
  return nodes
}

export const run = async ({ seconds, perSecond, way }: Wish): Promise<void> => {
  const senders = Payments.senders(SENDERS)
  const network = Processes.found({
    validators: VALIDATORS,
    roundMs: ROUND_MS,
    epochRounds: 240,
    allocations: senders.map(({ address }) => ({ address, amount: BALANCE })),
  })
  try {
    const nodes = await startAll(network, way)
    await Processes.everybodyAt(nodes, 5)
    const each = perSecond / VALIDATORS
    const clients = nodes.map((node, i) => {
      const own = senders.filter((_, n) => n % VALIDATORS === i)
      return new Payments.Client(network, node, own)
    })
    for (const client of clients) client.prepare(Math.ceil(each * seconds))
    const began = performance.now()
    let offered = 0
    while (performance.now() - began < seconds * 1_000) {
      const due = Math.floor(((performance.now() - began) / 1_000) * each)
      for (const client of clients) client.offer(due - offered)
      offered = due
      await sleep(TICK_MS)
    }
    for (const client of clients) await client.settled()
    // Until those payments are final that are followed.
    await Promise.all(clients.map((client) => client.latencies()))
    await Promise.all(nodes.map((node) => node.stop()))
  } finally {
    await Processes.removeAll()
  }
}
