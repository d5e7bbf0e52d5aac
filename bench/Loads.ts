/** The loads for measuring a transfer's cost, and a run's result. */
import type { Figure } from "./Harness.js"
import * as NetworkLoad from "./NetworkLoad.js"
import { Profile, type Spent } from "./Profile.js"
import * as SoloLoad from "./SoloLoad.js"

const ROUND_MS = 100
const PARTS_SHOWN = 18

export interface Measured {
  readonly finalPerSecond: number
  readonly processorUs: number
  readonly sentBytes?: number
  readonly checks?: number
  readonly final: number
  readonly spent: Spent | null
}

export interface Load {
  readonly key: string
  readonly name: string
  readonly validators: number
  readonly run: (wish: NetworkLoad.Wish) => Promise<Measured>
}

const solo = (key: string, name: string, batch: number, offeredPerSecond: number): Load => ({
  key,
  name,
  validators: 1,
  run: (wish) => SoloLoad.run({ ...wish, roundMs: ROUND_MS, batch, offeredPerSecond }),
})

export const LOADS: ReadonlyArray<Load> = [
  solo("arrays", "solo, arrays of 100", 100, 16_000),
  solo("single", "solo, one a request", 1, 12_000),
  {
    key: "four",
    name: "four validators, one a request",
    validators: NetworkLoad.VALIDATORS,
    run: NetworkLoad.run,
  },
]

/** A run that splits up the (first) node's processor time. */
export const counted = async (
  { run }: Load,
  wish: Omit<NetworkLoad.Wish, "profile">,
  takesSamples: boolean,
): Promise<Measured & { readonly spent: Spent }> => {
  const profile = new Profile({ takesSamples })
  try {
    const { spent, ...measured } = await run({ ...wish, profile })
    if (spent === null) throw new Error("nothing was counted")
    return { ...measured, spent }
  } finally {
    profile.remove()
  }
}

/** The (first) node's time, by threads and by parts of the program. */
export const partsOf = async (
  load: Load,
  wish: Omit<NetworkLoad.Wish, "profile">,
  title = load.name,
): Promise<ReadonlyArray<Figure>> => {
  const { spent, final } = await counted(load, wish, true)
  const figure = (name: string, milliseconds: number): Figure => ({
    name: `${title}: ${name}`,
    value: (milliseconds * 1_000) / final,
    unit: "µs a transfer",
  })
  return [
    figure("with the profiler", spent.milliseconds),
    ...spent.threads.map((one) => figure(`thread ${one.name}`, one.milliseconds)),
    ...spent.parts.slice(0, PARTS_SHOWN).map((one) => figure(one.name, one.milliseconds)),
  ]
}
