/**
 * What a transfer costs besides checking its signature: K is all nodes' processor time for one final transfer, divided
 * by that of checking its signature once for each validator. Both are processor time, so the ratio holds on a busy
 * machine. The check is timed alone, before and after a run, and within the loaded node, where neighbours on the same
 * processor make it slower, so the second ratio holds on a machine with changing speed. Each load runs several times
 * without the profiler, and once with V8's sampling profiler in the (first) node, for the parts.
 */
import { type Figure, median, type Suite } from "./Harness.js"
import * as Loads from "./Loads.js"
import type { Spent } from "./Profile.js"
import * as Yardstick from "./Yardstick.js"

const SECONDS = Number(process.env["UDG_COST_SECONDS"] ?? 30)
const RUNS = 3

type Run = Loads.Measured & { readonly spent: Spent; readonly signatureUs: number }

const checkingMs = ({ threads }: Spent): number =>
  threads.find(({ name }) => name === "checking")?.milliseconds ?? Number.NaN

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const measured = Loads.LOADS.map((load) => ({ load, runs: [] as Array<Run> }))
  // In turns, so that other work of the machine affects all loads alike.
  for (let run = 0; run < RUNS; run++) {
    for (const { load, runs } of measured) {
      runs.push(await Yardstick.beside(() => Loads.counted(load, { seconds: SECONDS }, false)))
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
  for (const load of Loads.LOADS) all.push(...(await Loads.partsOf(load, { seconds: SECONDS })))
  return all
}

export const suite: Suite = {
  about: `what a transfer costs beside its signature, medians of ${RUNS} runs of ${SECONDS} seconds, and where that goes`,
  figures,
}
