/**
 * What four validators write to their logs under load, and what a scrape of one of them costs afterwards, when all its series
 * are there: its processor time with scrapes, less that without.
 */

import * as Address from "../src/protocol/identity/Address.js"
import * as Network from "../src/protocol/identity/Network.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Testing from "../src/testing/Testing.js"
import * as Processes from "../test/network/Processes.js"
import type { Figure, Suite } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"
import { cpuMs } from "./ProcessorTime.js"

const ACCOUNTS = 200
const LOAD_MS = 20_000
/** Of each of the four. */
const LEVELS = ["info", "info", "debug", "trace"]
const BATCH = 20
const SCRAPES = 500
/** As ops/prometheus/prometheus.yml says. */
const INTERVAL_MS = 5_000

const balance = Sats.make(10 * Sats.SATS_PER_COIN)
const allocations = Array.from({ length: ACCOUNTS }, (_, i) => ({
  address: Address.fromPublicKey(Testing.keyOf(i).publicKey),
  amount: balance,
}))

const load = ({ networkId }: Processes.Founded["genesis"], node: Processes.Started) =>
  HttpLoad.run(
    {
      port: Number(new URL(node.http ?? "").port),
      requests: {
        network: { networkId, prefix: Network.addressPrefix("testnet") },
        accounts: ACCOUNTS,
        firstNonce: 0,
        each: 200,
        receivers: 0,
        batch: BATCH,
      },
      connections: 16,
      milliseconds: LOAD_MS,
    },
    () => {},
  )

const scraped = async ({ http }: Processes.Started): Promise<number> =>
  (await (await fetch(`${http}/metrics`)).text()).length

const figures = async (): Promise<ReadonlyArray<Figure>> => {
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
    const { perSecond } = await load(network.genesis, node)
    const anHour = 3_600_000 / LOAD_MS / 1_048_576
    const logs = nodes.map((each, n) => ({
      name: `log at ${LEVELS[n]}, under load`,
      value: (each.log().length - (logged[n] ?? 0)) * anHour,
      unit: "MiB an hour",
    }))
    const made = (Processes.recorded(node) - final) / (LOAD_MS / 1_000)
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    const [began, used] = [performance.now(), cpuMs(node)]
    let bytes = 0
    for (let i = 0; i < SCRAPES; i++) bytes = await scraped(node)
    const [elapsed, withScrapes] = [performance.now() - began, cpuMs(node) - used]
    const before = cpuMs(node)
    await new Promise((resolve) => setTimeout(resolve, elapsed))
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

export const suite: Suite = { about: "a scrape of one of four validators that were under load", isLong: true, figures }
