/**
 * What four validators write to their logs under load, and what a scrape costs: of one of them afterwards, when all its series are
 * there, its processor time with scrapes less that without; and of a solo node that takes all the load it can meanwhile, by what
 * each of its transfers costs in seconds with scrapes and in seconds without.
 */

import * as Address from "../src/protocol/identity/Address.js"
import * as Network from "../src/protocol/identity/Network.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Testing from "../src/testing/Testing.js"
import * as Processes from "../test/network/Processes.js"
import { type Figure, median, quantile, type Suite } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"
import { cpuMs } from "./ProcessorTime.js"

const ACCOUNTS = 1_000
const LOAD_MS = 20_000
/** Of each of the four. */
const LEVELS = ["info", "info", "debug", "trace"]
const BATCH = 20
const SCRAPES = 500
/** As ops/prometheus/prometheus.yml says. */
const INTERVAL_MS = 5_000

/** Pairs of windows, one without scrapes and one with them. */
const PAIRS = 10
const WINDOW_MS = 3_000
/** Each scrapes as often as it is answered, so that what scrapes cost rises above the noise. */
const SCRAPERS = 2
/** More than a node takes here, so that the load never runs dry. */
const MOST_PER_SECOND = 5_000

const balance = Sats.make(10 * Sats.SATS_PER_COIN)
const allocations = Array.from({ length: ACCOUNTS }, (_, i) => ({
  address: Address.fromPublicKey(Testing.keyOf(i).publicKey),
  amount: balance,
}))

interface Wish {
  readonly batch: number
  readonly connections: number
  readonly milliseconds: number
  /** Transfers of each account. */
  readonly each: number
}

const load = ({ genesis }: Processes.Founded, node: Processes.Started, wish: Wish, begins?: () => void) =>
  HttpLoad.run(
    {
      port: Number(new URL(node.http ?? "").port),
      requests: {
        network: { networkId: genesis.networkId, prefix: Network.addressPrefix(genesis.mode) },
        accounts: ACCOUNTS,
        firstNonce: 0,
        each: wish.each,
        receivers: 0,
        batch: wish.batch,
      },
      connections: wish.connections,
      milliseconds: wish.milliseconds,
    },
    begins,
  )

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Spent {
  readonly cpu: number
  readonly final: number
  readonly scrapes: number
}
type Pair = readonly [without: Spent, scraped: Spent]

const scraped = async ({ http }: Processes.Started): Promise<number> =>
  (await (await fetch(`${http}/metrics`)).text()).length

/** Of the logs, and of scrapes after the load. */
const afterLoad = async (): Promise<ReadonlyArray<Figure>> => {
  const network = Processes.found({ roundMs: 500, epochRounds: 240, allocations })
  try {
    const nodes: Array<Processes.Started> = []
    for (const n of network.keys.keys()) {
      nodes.push(await Processes.startValidator(network, n, nodes, ["--rate-limits", "off"], LEVELS[n]))
    }
    const [node] = nodes
    if (node === undefined) throw new Error("no node")
    const logged = nodes.map((each) => each.log().length)
    const final = Processes.recorded(node)
    const wish = { batch: BATCH, connections: 16, milliseconds: LOAD_MS, each: 40 }
    const { perSecond } = await load(network, node, wish)
    const anHour = 3_600_000 / LOAD_MS / 1_048_576
    const logs = nodes.map((each, n) => ({
      name: `log at ${LEVELS[n]}, under load`,
      value: (each.log().length - (logged[n] ?? 0)) * anHour,
      unit: "MiB an hour",
    }))
    const made = (Processes.recorded(node) - final) / (LOAD_MS / 1_000)
    await sleep(5_000)
    const [began, used] = [performance.now(), cpuMs(node)]
    let bytes = 0
    for (let i = 0; i < SCRAPES; i++) bytes = await scraped(node)
    const [elapsed, withScrapes] = [performance.now() - began, cpuMs(node) - used]
    const before = cpuMs(node)
    await sleep(elapsed)
    const each = (withScrapes - (cpuMs(node) - before)) / SCRAPES
    return [
      { name: "load: accepted", value: perSecond * BATCH, unit: "a second" },
      { name: "load: final", value: made, unit: "a second" },
      ...logs.slice(1),
      { name: "an answer", value: bytes / 1_024, unit: "KiB" },
      { name: "processor", value: each, unit: "ms a scrape" },
      { name: `processor, scraped every ${INTERVAL_MS / 1_000} s`, value: (each * 100) / INTERVAL_MS, unit: "%" },
    ]
  } finally {
    await Processes.removeAll()
  }
}

/** What a node spends, in processor time and for how many transfers, while it is scraped by so many at a time. */
const spent = async (node: Processes.Started, scrapers: number) => {
  const [cpu, final, until] = [cpuMs(node), Processes.recorded(node), performance.now() + WINDOW_MS]
  let scrapes = 0
  const scraping = async () => {
    for (; performance.now() < until; scrapes++) await scraped(node)
  }
  await Promise.all([sleep(WINDOW_MS), ...Array.from({ length: scrapers }, scraping)])
  return { cpu: cpuMs(node) - cpu, final: Processes.recorded(node) - final, scrapes }
}

/** Of scrapes during the load, which makes pairs of seconds without and with them. */
const underLoad = async (): Promise<ReadonlyArray<Figure>> => {
  const network = Processes.found({ validators: 1, roundMs: 100, epochRounds: 6_000, allocations })
  try {
    const node = await Processes.startValidator(network, 0, [], ["--rate-limits", "off"], "warn")
    let pairs = Promise.resolve<ReadonlyArray<Pair>>([])
    const measure = async () => {
      await sleep(WINDOW_MS)
      const made: Array<Pair> = []
      for (let i = 0; i < PAIRS; i++) made.push([await spent(node, 0), await spent(node, SCRAPERS)])
      return made
    }
    // The last two windows may run late, and the load must last.
    const milliseconds = (2 * PAIRS + 3) * WINDOW_MS
    const each = Math.ceil((MOST_PER_SECOND * milliseconds) / 1_000 / ACCOUNTS)
    await load(network, node, { batch: 1, connections: 128, milliseconds, each }, () => {
      pairs = measure()
    })
    const measured = await pairs
    const costs = measured.map(([without, scraped]) => {
      const ofTransfers = (without.cpu / without.final) * scraped.final
      return (scraped.cpu - ofTransfers) / scraped.scrapes
    })
    const seconds = (PAIRS * WINDOW_MS) / 1_000
    const all = (of: (pair: Pair) => number) => measured.reduce((sum, pair) => sum + of(pair), 0) / seconds
    const middle = median(costs)
    return [
      { name: "full load, unscraped: final", value: all(([{ final }]) => final), unit: "a second" },
      { name: "full load, unscraped: processor", value: all(([{ cpu }]) => cpu / 1_000), unit: "cores" },
      { name: "full load: scrapes", value: all(([, { scrapes }]) => scrapes), unit: "a second" },
      { name: "full load: processor, median of pairs", value: middle, unit: "ms a scrape" },
      { name: "full load: processor, lower quartile", value: quantile(costs, 0.25), unit: "ms a scrape" },
      { name: "full load: processor, upper quartile", value: quantile(costs, 0.75), unit: "ms a scrape" },
      { name: `full load: scraped every ${INTERVAL_MS / 1_000} s`, value: (middle * 100) / INTERVAL_MS, unit: "%" },
    ]
  } finally {
    await Processes.removeAll()
  }
}

const figures = async (): Promise<ReadonlyArray<Figure>> => [...(await afterLoad()), ...(await underLoad())]

export const suite: Suite = { about: "logs and scrapes of nodes under load", isLong: true, figures }
