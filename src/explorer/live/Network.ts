/** The network: loaded once, and again when parameters can have changed. */
import { effect, signal } from "@preact/signals"
import * as Address from "../../protocol/identity/Address.js"
import * as Live from "./Live.js"
import * as MetricsHistory from "./MetricsHistory.js"
import { type Answer, isOfAnotherInterface, node } from "./Node.js"

export type NetworkInfo = Answer<"core", "network">

export const network = signal<NetworkInfo | undefined>(undefined)

/** Whether the node has begun to run another program than the one that served this page. */
export const isOutdated = signal(false)

effect(() => {
  // Subscribes to the beat: a node's mode never changes, but its parameters can.
  void Live.slowBeat.value
  node.core.network().then(
    (info) => {
      const before = network.peek()
      // Cached names, committees and figures belong to another network.
      if (before !== undefined && before.genesis_hash !== info.genesis_hash) location.reload()
      if (before !== undefined && before.version !== info.version) isOutdated.value = true
      if (JSON.stringify(info) !== JSON.stringify(network.peek())) network.value = info
      Live.roundMs.value = info.parameters.round_interval_ms
    },
    // `Live` reports that the node does not answer; the next beat retries.
    (error: unknown) => {
      if (isOfAnotherInterface(error)) isOutdated.value = true
    },
  )
})

/** Resolves once the network is known. */
export const loaded = new Promise<void>((resolve) => {
  effect(() => {
    if (network.value !== undefined) resolve()
  })
})

/** An address in this network's form; in hex until the network is known. */
export const written = (address: Address.Address): string => {
  const info = network.value
  return info === undefined ? address : Address.toBech32(address, info.address_prefix)
}

/** Long enough for idle and busy minutes. */
const PACE_MS = 600_000

/** The measured time per round; undefined until known. On an idle network it can be twice the configured interval. */
const measuredMs = signal<number | undefined>(undefined)

effect(() => {
  void Live.slowBeat.value
  MetricsHistory.load("hour").then(
    ({ at, rounds, measured_ms: spans }) => {
      const first = at.findIndex((moment) => moment >= (at.at(-1) ?? 0) - PACE_MS)
      const total = (values: ReadonlyArray<number>) =>
        values.slice(Math.max(0, first)).reduce((sum, one) => sum + one, 0)
      const counted = total(rounds)
      if (counted > 0) measuredMs.value = total(spans) / counted
    },
    // The interval is a fair guess meanwhile.
    () => undefined,
  )
})

/** The approximate duration of this many rounds at the present pace. */
export const millisecondsOf = (rounds: number): number =>
  rounds * (measuredMs.value ?? network.value?.parameters.round_interval_ms ?? Number.NaN)
