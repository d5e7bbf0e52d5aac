/** Four validators as processes on this machine, each under as many signed transfers as it accepts, one per request. */
import { setTimeout as sleep } from "node:timers/promises"
import * as Address from "../src/protocol/identity/Address.js"
import * as Network from "../src/protocol/identity/Network.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Testing from "../src/testing/Testing.js"
import * as Processes from "../test/network/Processes.js"
import * as HttpLoad from "./HttpLoad.js"
import { cpuMs } from "./ProcessorTime.js"
import type { Profile, Spent } from "./Profile.js"

export interface Wish {
  readonly seconds: number
  /** Of the first node. */
  readonly profile?: Profile
  readonly program?: Processes.Program
}

export interface Outcome {
  readonly finalPerSecond: number
  /** Processor time of all nodes. */
  readonly processorUs: number
  /** Unencrypted message bytes between all nodes per transfer. */
  readonly sentBytes: number
  /** How often a node checks a transfer's signature. */
  readonly checks: number
  readonly final: number
  readonly spent: Spent | null
}

export const VALIDATORS = 4
const ROUND_MS = 250
const SENDERS = 2_000
const BALANCE = Sats.make(1_000 * Sats.SATS_PER_COIN)
/** More per second than one of four nodes takes here. */
const OFFERED_TO_EACH = 800
const CONNECTIONS_TO_EACH = 32
/** A new process is still being compiled while it runs. */
const WARM_UP_SECONDS = 10

const startAll = async (network: Processes.Founded, { profile, program }: Wish) => {
  const own = { ...Processes.DIRECT, ...program }
  const nodes: Array<Processes.Started> = []
  for (let n = 0; n < VALIDATORS; n++) {
    const words = ["--rate-limits", "off"]
    nodes.push(
      await Processes.startValidator(
        network,
        n,
        nodes,
        words,
        "warn",
        n === 0 && profile ? { ...own, ...profile.way } : own,
      ),
    )
  }
  return nodes
}

const metricsOf = async ({ http }: Processes.Started): Promise<string> => (await fetch(`${http}/metrics`)).text()

const SENT = /^udg_network_message_bytes_total\{direction="sent",kind="\w+",class="\w+"\} (\d+)$/gm

/** Bytes that a node has sent so far. */
const sentBy = (metrics: string): number => {
  let bytes = 0
  for (const [, count] of metrics.matchAll(SENT)) bytes += Number(count)
  return bytes
}

const checkedBy = (metrics: string): number => Number(/^udg_signature_checks_total (\d+)$/m.exec(metrics)?.[1])

/** By all nodes so far. */
const doneBy = async (nodes: ReadonlyArray<Processes.Started>) => {
  const metrics = await Promise.all(nodes.map(metricsOf))
  const sum = (of: (metrics: string) => number) => metrics.reduce((all, one) => all + of(one), 0)
  return { sent: sum(sentBy), checked: sum(checkedBy) }
}

export const run = async (wish: Wish): Promise<Outcome> => {
  const { seconds, profile } = wish
  const network = Processes.found({
    validators: VALIDATORS,
    roundMs: ROUND_MS,
    epochRounds: 240,
    allocations: Array.from({ length: SENDERS }, (_, i) => ({
      address: Address.fromPublicKey(Testing.keyOf(i).publicKey),
      amount: BALANCE,
    })),
  })
  try {
    const nodes = await startAll(network, wish)
    const [first] = nodes
    if (first === undefined) throw new Error("there are no nodes")
    await Processes.everybodyAt(nodes, 5)
    const accounts = SENDERS / VALIDATORS
    const loaded = nodes.map(
      (node, n) =>
        new Promise<{ readonly ended: Promise<unknown> }>((begun, failed) => {
          const load: HttpLoad.Load = {
            port: Number(new URL(node.http ?? "").port),
            requests: {
              network: { networkId: network.genesis.networkId, prefix: Network.addressPrefix(network.genesis.mode) },
              firstAccount: n * accounts,
              accounts,
              firstNonce: 0,
              each: Math.ceil(((WARM_UP_SECONDS + seconds) * OFFERED_TO_EACH) / accounts),
              batch: 1,
            },
            connections: CONNECTIONS_TO_EACH,
            milliseconds: (WARM_UP_SECONDS + seconds) * 1_000,
          }
          const ended = HttpLoad.run(load, () => begun({ ended }))
          ended.catch(failed)
        }),
    )
    const loads = await Promise.all(loaded)
    await sleep(WARM_UP_SECONDS * 1_000)
    const counting = profile?.begin(first)
    const done = await doneBy(nodes)
    const before = { at: performance.now(), final: Processes.recorded(first), cpu: nodes.map(cpuMs) }
    await Promise.race(loads.map(({ ended }) => ended))
    counting?.end()
    const elapsed = performance.now() - before.at
    const final = Processes.recorded(first) - before.final
    const cpu = nodes.map(cpuMs).reduce((sum, ms, i) => sum + ms - (before.cpu[i] ?? 0), 0)
    const { sent, checked } = await doneBy(nodes)
    await Promise.all(loads.map(({ ended }) => ended))
    await Promise.all(nodes.map((node) => node.stop()))
    return {
      finalPerSecond: (final * 1_000) / elapsed,
      processorUs: (cpu * 1_000) / final,
      sentBytes: (sent - done.sent) / final,
      checks: (checked - done.checked) / (VALIDATORS * final),
      final,
      spent: counting?.spent() ?? null,
    }
  } finally {
    await Processes.removeAll()
  }
}
