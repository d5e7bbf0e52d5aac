/**
 * A solo node under as many signed transfers as it accepts, in arrays and one per request. The load comes from a
 * separate process on the same cores.
 */
import type { Figure, Suite } from "./Harness.js"
import * as SoloLoad from "./SoloLoad.js"

const ROUND_MS = 100
const SECONDS = Number(process.env["UDG_SOLO_SECONDS"] ?? 60)
const BATCH = 100

const loaded = async (name: string, batch: number, offeredPerSecond: number): Promise<ReadonlyArray<Figure>> => {
  const outcome = await SoloLoad.run({ roundMs: ROUND_MS, seconds: SECONDS, batch, offeredPerSecond })
  return [
    { name: `${name}: final`, value: outcome.finalPerSecond, unit: "a second" },
    { name: `${name}: accepted`, value: outcome.acceptedPerSecond, unit: "a second" },
    { name: `${name}: answered, p99`, value: outcome.answeredP99Ms, unit: "ms" },
    { name: `${name}: processor`, value: outcome.processorUs, unit: "µs a transfer" },
    { name: `${name}: processor`, value: outcome.cores, unit: "cores" },
    { name: `${name}: used by node and load`, value: outcome.usedShare, unit: "of all processors" },
    { name: `${name}: event loop delayed, p99`, value: outcome.loopDelayP99Ms, unit: "ms" },
    { name: `${name}: event loop delayed, most`, value: outcome.loopDelayMostMs, unit: "ms" },
  ]
}

const figures = async (): Promise<ReadonlyArray<Figure>> => [
  ...(await loaded(`arrays of ${BATCH}`, BATCH, 16_000)),
  ...(await loaded("one a request", 1, 6_500)),
]

export const suite: Suite = { about: `a solo node, rounds every ${ROUND_MS} ms, ${SECONDS} seconds of load`, figures }
