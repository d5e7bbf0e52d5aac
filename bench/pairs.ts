/**
 * The same load against several builds of the program, in turn, so that what the machine does besides falls on all of them alike.
 * `UDG_PROGRAMS` names their `main.js`, with commas between, each with the Node that runs it before it where that is not this one;
 * without it there is only the one of this tree.
 */
import { join } from "node:path"
import process from "node:process"
import type * as Processes from "../test/network/Processes.js"
import { type Figure, median, type Suite } from "./Harness.js"
import * as NetworkLoad from "./NetworkLoad.js"
import * as SoloLoad from "./SoloLoad.js"
import * as Yardstick from "./Yardstick.js"

const SECONDS = Number(process.env["UDG_PAIR_SECONDS"] ?? 15)
const TURNS = Number(process.env["UDG_PAIR_TURNS"] ?? 5)
const OWN = join(import.meta.dirname, "..", "dist", "main.js")
const PROGRAMS = process.env["UDG_PROGRAMS"]?.split(",") ?? [OWN]

const programOf = (words: string): Processes.Program => {
  const [program = OWN, node = process.execPath] = words.split(" ").reverse()
  return { program, node }
}

interface Measured {
  readonly finalPerSecond: number
  readonly processorUs: number
  readonly sentBytes?: number
  readonly checks?: number
}

interface Load {
  readonly name: string
  readonly validators: number
  readonly run: (program: Processes.Program) => Promise<Measured>
}

const solo = (name: string, batch: number, offeredPerSecond: number): Load => ({
  name,
  validators: 1,
  run: (program) => SoloLoad.run({ roundMs: 100, seconds: SECONDS, batch, offeredPerSecond, program }),
})

const LOADS: ReadonlyArray<Load> = [
  solo("arrays", 100, 16_000),
  solo("single", 1, 12_000),
  {
    name: "four",
    validators: NetworkLoad.VALIDATORS,
    run: (program) => NetworkLoad.run({ seconds: SECONDS, program }),
  },
]
const WANTED = process.env["UDG_PAIR_LOADS"]?.split(",") ?? LOADS.map(({ name }) => name)

const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const all: Array<Figure> = []
  for (const { name, validators, run } of LOADS.filter((load) => WANTED.includes(load.name))) {
    const outcomes = PROGRAMS.map((words) => ({
      words,
      program: programOf(words),
      runs: [] as Array<Measured & { readonly signatureUs: number }>,
    }))
    const costOf = ({ processorUs, signatureUs }: (typeof outcomes)[number]["runs"][number]): number =>
      processorUs / (validators * signatureUs)
    for (let turn = 0; turn < TURNS; turn++) {
      for (const { words, program, runs } of outcomes) {
        const outcome = await Yardstick.beside(() => run(program))
        runs.push(outcome)
        console.log(`${name}, ${words}: K ${costOf(outcome).toFixed(2)}, ${JSON.stringify(outcome)}`)
      }
    }
    for (const { words, runs } of outcomes) {
      const middle = (of: (run: (typeof runs)[number]) => number) => median(runs.map(of))
      const title = `${name}, ${words}`
      all.push({ name: `${title}: K`, value: middle(costOf), unit: "signatures" })
      all.push({ name: `${title}: final`, value: middle(({ finalPerSecond }) => finalPerSecond), unit: "a second" })
      if (validators === 1) continue
      all.push({ name: `${title}: between them`, value: middle((run) => run.sentBytes ?? 0), unit: "bytes a transfer" })
      all.push({ name: `${title}: checks`, value: middle((run) => run.checks ?? 0), unit: "a transfer and node" })
    }
  }
  return all
}

export const suite: Suite = {
  about: `the same load against several builds in turn, ${TURNS} turns of ${SECONDS} seconds`,
  isLong: true,
  figures,
}
