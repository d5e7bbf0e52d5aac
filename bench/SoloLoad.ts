/**
 * A solo node as in production, `node dist/main.js --round-ms 100` with its disk, under transfers signed in advance.
 */

import * as Protocol from "../src/protocol/epoch/Protocol.js"
import * as Address from "../src/protocol/identity/Address.js"
import type { PublicKey } from "../src/protocol/identity/Keys.js"
import * as Network from "../src/protocol/identity/Network.js"
import * as Parameters from "../src/protocol/numbers/Parameters.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Testing from "../src/testing/Testing.js"
import * as Processes from "../test/network/Processes.js"
import { numbered } from "../test/network/Wallet.js"
import * as HttpLoad from "./HttpLoad.js"
import { cpuMs, usedSinceNow } from "./ProcessorTime.js"
import type { Profile, Spent } from "./Profile.js"

export interface Wish {
  readonly roundMs: number
  readonly seconds: number
  /** Transactions per request. */
  readonly batch: number
  /** More than any node takes here, so that the load never runs out. */
  readonly offeredPerSecond: number
  readonly profile?: Profile
  readonly program?: Processes.Program
  /** Accounts besides the senders; if there are any, they receive the payments. */
  readonly receivers?: number
}

export interface Outcome {
  readonly finalPerSecond: number
  readonly acceptedPerSecond: number
  readonly answeredP99Ms: number
  /** Processor time of all threads. */
  readonly processorUs: number
  readonly cores: number
  /** Use of all processors by node, load and everything else. */
  readonly usedShare: number
  /** Delay of the node's event loop. */
  readonly loopDelayP99Ms: number
  readonly loopDelayMostMs: number
  readonly final: number
  readonly spent: Spent | null
}

export const SENDERS = 2_000
/**
 * Transactions in flight: each connection waits for its response before the next request. Far below a mempool's
 * capacity, because a node that mostly rejects gets little done.
 */
const UNDER_WAY = { alone: 128, together: 3_200 }
const BALANCE = Sats.make(10 * Sats.SATS_PER_COIN)

const allocation = (key: PublicKey) => ({ address: Address.fromPublicKey(key), amount: BALANCE })

/** Interval of the event loop's samples, which is the histogram's value for a loop that is never late. */
const LOOKS_APART_MS = 10

/** Since the last or first call. */
const loopDelay = async (node: Processes.Started) => {
  const metrics = await (await fetch(`${node.http}/metrics`)).text()
  const between = (which: string): number =>
    Number(new RegExp(`^nodejs_eventloop_lag_${which}_seconds (\\S+)$`, "m").exec(metrics)?.[1] ?? Number.NaN) * 1_000
  return { p99Ms: between("p99") - LOOKS_APART_MS, mostMs: between("max") - LOOKS_APART_MS }
}

/** `stopped` gets the data directory once the node has stopped. */
export const run = async (wish: Wish, stopped = (_directory: string): void => {}): Promise<Outcome> => {
  const { roundMs, seconds, batch, offeredPerSecond, profile, program, receivers = 0 } = wish
  const network = Processes.found({
    validators: 1,
    roundMs,
    epochRounds: Protocol.standard.epochRounds,
    checkpointRounds: Parameters.solo.checkpointIntervalRounds,
    allocations: [
      ...Array.from({ length: SENDERS }, (_, i) => allocation(Testing.keyOf(i).publicKey)),
      ...Array.from({ length: receivers }, (_, i) => allocation(numbered(i))),
    ],
  })
  try {
    const way = { ...(profile?.way ?? Processes.DIRECT), ...program }
    const node = await Processes.startValidator(network, 0, [], ["--rate-limits", "off"], "warn", way)
    await loopDelay(node)
    const began = { at: 0, final: 0, cpu: 0, used: () => 0 }
    let counting: ReturnType<Profile["begin"]> | undefined
    const sent = await HttpLoad.run(
      {
        port: Number(new URL(node.http ?? "").port),
        requests: {
          network: { networkId: network.genesis.networkId, prefix: Network.addressPrefix(network.genesis.mode) },
          accounts: SENDERS,
          firstNonce: 0,
          each: Math.ceil((offeredPerSecond * seconds) / SENDERS),
          receivers,
          batch,
        },
        connections: batch === 1 ? UNDER_WAY.alone : Math.ceil(UNDER_WAY.together / batch),
        milliseconds: seconds * 1_000,
      },
      () => {
        counting = profile?.begin(node)
        const [final, cpu, used] = [Processes.recorded(node), cpuMs(node), usedSinceNow()]
        Object.assign(began, { at: performance.now(), final, cpu, used })
      },
    )
    const elapsed = performance.now() - began.at
    const final = Processes.recorded(node) - began.final
    const cpu = cpuMs(node) - began.cpu
    const usedShare = began.used()
    counting?.end()
    const { p99Ms: loopDelayP99Ms, mostMs: loopDelayMostMs } = await loopDelay(node)
    await node.stop()
    stopped(node.directory)
    return {
      finalPerSecond: (final * 1_000) / elapsed,
      acceptedPerSecond: sent.perSecond * batch,
      answeredP99Ms: sent.p99Ms,
      processorUs: (cpu * 1_000) / final,
      cores: cpu / elapsed,
      usedShare,
      loopDelayP99Ms,
      loopDelayMostMs,
      final,
      spent: counting?.spent() ?? null,
    }
  } finally {
    await Processes.removeAll()
  }
}
