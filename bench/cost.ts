/**
 * What a transfer costs beside checking its signature: K is the processor time of all nodes for one final transfer, divided
 * by that of checking its signature, once for each validator. Both are processor time, so the ratio holds on a busy machine.
 * The check is timed alone, before and after a run, and within the node under load, where neighbours on the same processor
 * make it cost more: the second ratio holds on a machine that changes its speed. Each load runs some times as it is, and once
 * with V8's sampling profiler in the (first) node, for the parts.
 */
import { type Figure, median, type Suite } from "./Harness.js"
import * as NetworkLoad from "./NetworkLoad.js"
import { Profile, type Spent } from "./Profile.js"
import * as SoloLoad from "./SoloLoad.js"
import * as Yardstick from "./Yardstick.js"

const ROUND_MS = 100
const SECONDS = Number(process.env["UDG_COST_SECONDS"] ?? 30)
const RUNS = 3
const PARTS_SHOWN = 18

interface Measured {
  readonly finalPerSecond: number
  readonly processorUs: number
  readonly sentBytes?: number
  readonly checks?: number
  readonly final: number
  readonly spent: Spent | null
}

interface Load {
  readonly name: string
  readonly validators: number
  readonly run: (profile: Profile) => Promise<Measured>
}

const solo = (name: string, batch: number, offeredPerSecond: number): Load => ({
  name,
  validators: 1,
  run: (profile) => SoloLoad.run({ roundMs: ROUND_MS, seconds: SECONDS, batch, offeredPerSecond, profile }),
})

const LOADS: ReadonlyArray<Load> = [
  solo("solo, arrays of 100", 100, 16_000),
  solo("solo, one a request", 1, 8_000),
  {
    name: "four validators, one a request",
    validators: NetworkLoad.VALIDATORS,
    run: (profile) => NetworkLoad.run({ seconds: SECONDS, profile }),
  },
]

const counted = async ({ run }: Load, takesSamples: boolean): Promise<Measured & { readonly spent: Spent }> => {
  const profile = new Profile({ takesSamples })
  try {
    const { spent, ...measured } = await run(profile)
    if (spent === null) throw new Error("nothing was counted")
    return { ...measured, spent }
  } finally {
    profile.remove()
  }
}

type Run = Measured & { readonly spent: Spent; readonly signatureUs: number }

const partsOf = async (load: Load): Promise<ReadonlyArray<Figure>> => {
  const { spent, final } = await counted(load, true)
  const { name } = load
  const each = (milliseconds: number) => (milliseconds * 1_000) / final
  const unit = "µs a transfer"
  return [
    { name: `${name}: with the profiler`, value: each(spent.milliseconds), unit },
    ...spent.threads.map((one) => ({ name: `${name}: thread ${one.name}`, value: each(one.milliseconds), unit })),
    ...spent.parts
      .slice(0, PARTS_SHOWN)
      .map((one) => ({ name: `${name}: ${one.name}`, value: each(one.milliseconds), unit })),
  ]
}

const checkingMs = ({ threads }: Spent): number =>
  threads.find(({ name }) => name === "checking")?.milliseconds ?? Number.NaN

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const measured = LOADS.map((load) => ({ load, runs: [] as Array<Run> }))
  // In turn, so that what the machine does besides falls on all loads alike.
  for (let run = 0; run < RUNS; run++) {
    for (const { load, runs } of measured) {
      runs.push(await Yardstick.beside(() => counted(load, false)))
    }
  }
  const signatureUs = median(measured.flatMap(({ runs }) => runs.map((run) => run.signatureUs)))
  const all: Array<Figure> = [{ name: "a signature, raw, median", value: signatureUs, unit: "µs of processor" }]
  for (const { load, runs } of measured) {
    const { name, validators } = load
    const middle = (of: (run: (typeof runs)[number]) => number) => median(runs.map(of))
    all.push({ name: `${name}: final`, value: middle(({ finalPerSecond }) => finalPerSecond), unit: "a second" })
    all.push({ name: `${name}: processor`, value: middle(({ processorUs }) => processorUs), unit: "µs a transfer" })
    const k = middle(({ processorUs, signatureUs }) => processorUs / (validators * signatureUs))
    all.push({ name: `${name}: K`, value: k, unit: "signatures" })
    const check = middle(({ spent, final }) => (checkingMs(spent) * 1_000) / final)
    all.push({ name: `${name}: the check, under this load`, value: check, unit: "µs of processor" })
    const share = middle(({ spent }) => spent.milliseconds / checkingMs(spent))
    all.push({ name: `${name}: all of it, of that check`, value: share, unit: "times" })
    if (validators === 1) continue
    all.push({ name: `${name}: between them`, value: middle((run) => run.sentBytes ?? 0), unit: "bytes a transfer" })
    all.push({ name: `${name}: checks`, value: middle((run) => run.checks ?? 0), unit: "a transfer and node" })
  }
  for (const load of LOADS) all.push(...(await partsOf(load)))
  return all
}

export const suite: Suite = {
  about: `what a transfer costs beside its signature, medians of ${RUNS} runs of ${SECONDS} seconds, and where that goes`,
  figures,
}
