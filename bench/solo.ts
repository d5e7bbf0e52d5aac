/**
 * A solo node as people run it, `node dist/main.js --round-ms 100` with its disk, under as many signed transfers as it
 * takes: in arrays, and one a request. The load is signed beforehand and sent from a process of its own, on the same
 * cores.
 */
import { readFileSync } from "node:fs"
import * as Address from "../src/protocol/Address.js"
import * as Network from "../src/protocol/Network.js"
import * as Sats from "../src/protocol/Sats.js"
import * as Testing from "../src/testing/Testing.js"
import * as Processes from "../test/network/Processes.js"
import type { Figure, Suite } from "./Harness.js"
import * as HttpLoad from "./HttpLoad.js"

const ROUND_MS = 100
const SENDERS = 2_000
const SECONDS = Number(process.env["UDG_SOLO_SECONDS"] ?? 60)
const CONNECTIONS = 128
const BATCH = 100
/** More a second than any node takes here, so that the load never runs dry. */
const OFFERED_PER_SECOND = { alone: 5_000, together: 8_000 }
const BALANCE = Sats.make(10 * Sats.SATS_PER_COIN)
/** Clock ticks a second, in which Linux counts processor time. */
const TICKS = 100

const cpuMs = ({ pid }: Processes.Started): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS
}

const loaded = async (batch: number, offered: number): Promise<ReadonlyArray<Figure>> => {
  const network = Processes.found({
    validators: 1,
    roundMs: ROUND_MS,
    epochRounds: 240,
    allocations: Array.from({ length: SENDERS }, (_, i) => ({
      address: Address.fromPublicKey(Testing.keyOf(i).publicKey),
      amount: BALANCE,
    })),
  })
  try {
    const node = await Processes.startValidator(network, 0, [], ["--rate-limits", "off"], "warn")
    const began = { at: 0, final: 0, cpu: 0 }
    const sent = await HttpLoad.run(
      {
        port: Number(new URL(node.http ?? "").port),
        requests: {
          network: { networkId: network.genesis.networkId, prefix: Network.addressPrefix(network.genesis.mode) },
          accounts: SENDERS,
          firstNonce: 0,
          each: Math.ceil((offered * SECONDS) / SENDERS),
          batch,
        },
        connections: CONNECTIONS,
        milliseconds: SECONDS * 1_000,
      },
      () => Object.assign(began, { at: performance.now(), final: Processes.recorded(node), cpu: cpuMs(node) }),
    )
    const elapsed = performance.now() - began.at
    const final = Processes.recorded(node) - began.final
    const cpu = cpuMs(node) - began.cpu
    const name = batch === 1 ? "one a request" : `arrays of ${batch}`
    const delay = await eventLoopDelay(node)
    await node.stop()
    return [
      { name: `${name}: final`, value: (final * 1_000) / elapsed, unit: "a second" },
      { name: `${name}: accepted`, value: sent.perSecond * batch, unit: "a second" },
      { name: `${name}: answered, p99`, value: sent.p99Ms, unit: "ms" },
      { name: `${name}: processor`, value: (cpu * 1_000) / final, unit: "µs a transfer" },
      { name: `${name}: processor`, value: cpu / elapsed, unit: "cores" },
      { name: `${name}: event loop delayed, p99`, value: delay, unit: "ms" },
    ]
  } finally {
    await Processes.removeAll()
  }
}

/** As its metrics tell. */
const eventLoopDelay = async (node: Processes.Started): Promise<number> => {
  const metrics = await (await fetch(`${node.http}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(metrics)?.[1] ?? Number.NaN) * 1_000
}

const figures = async (): Promise<ReadonlyArray<Figure>> => [
  ...(await loaded(BATCH, OFFERED_PER_SECOND.together)),
  ...(await loaded(1, OFFERED_PER_SECOND.alone)),
]

export const suite: Suite = { about: `a solo node, rounds every ${ROUND_MS} ms, ${SECONDS} seconds of load`, figures }
