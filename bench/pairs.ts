/**
 * The same load on several builds in turns, so that other work of the machine affects all of them alike (`Programs.ts`
 * names them).
 */
import process from "node:process"
import { type Figure, median, type Suite } from "./Harness.js"
import * as Loads from "./Loads.js"
import * as Programs from "./Programs.js"
import * as Yardstick from "./Yardstick.js"

const SECONDS = Number(process.env["UDG_PAIR_SECONDS"] ?? 15)
const TURNS = Number(process.env["UDG_PAIR_TURNS"] ?? 5)
const WANTED = process.env["UDG_PAIR_LOADS"]?.split(",") ?? Loads.LOADS.map(({ key }) => key)
/** One more run of each with V8's sampling profiler, for the parts. */
const SHOWS_PARTS = process.env["UDG_PAIR_PARTS"] === "on"

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const all: Array<Figure> = []
  for (const load of Loads.LOADS.filter(({ key }) => WANTED.includes(key))) {
    const { key, validators, run } = load
    const outcomes = Programs.all().map(({ words, program }) => ({
      words,
      wish: { seconds: SECONDS, program },
      runs: [] as Array<Loads.Measured & { readonly signatureUs: number }>,
    }))
    const costOf = ({ processorUs, signatureUs }: (typeof outcomes)[number]["runs"][number]): number =>
      processorUs / (validators * signatureUs)
    for (let turn = 0; turn < TURNS; turn++) {
      for (const { words, wish, runs } of outcomes) {
        const outcome = await Yardstick.beside(() => run(wish))
        runs.push(outcome)
        console.log(`${key}, ${words}: K ${costOf(outcome).toFixed(2)}, ${JSON.stringify(outcome)}`)
      }
    }
    for (const { words, wish, runs } of outcomes) {
      const middle = (of: (run: (typeof runs)[number]) => number) => median(runs.map(of))
      const title = `${key}, ${words}`
      all.push({ name: `${title}: K`, value: middle(costOf), unit: "signatures" })
      all.push({ name: `${title}: final`, value: middle(({ finalPerSecond }) => finalPerSecond), unit: "a second" })
      if (validators > 1) {
        all.push({
          name: `${title}: between them`,
          value: middle((run) => run.sentBytes ?? 0),
          unit: "bytes a transfer",
        })
        all.push({ name: `${title}: checks`, value: middle((run) => run.checks ?? 0), unit: "a transfer and node" })
      }
      if (SHOWS_PARTS) all.push(...(await Loads.partsOf(load, wish, title)))
    }
  }
  return all
}

export const suite: Suite = {
  about: `the same load against several builds in turn, ${TURNS} turns of ${SECONDS} seconds`,
  isLong: true,
  figures,
}
