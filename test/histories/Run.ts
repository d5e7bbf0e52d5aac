/** One run: a network, its clients and what goes wrong, for so long; then the verdict. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { Chance } from "../simulation/Chance.js"
import * as Checker from "./Checker.js"
import { Clients } from "./Clients.js"
import * as History from "./History.js"
import * as Nemesis from "./Nemesis.js"
import { Recorder } from "./Recorder.js"
import { type Options, World } from "./World.js"

export interface Wish extends Options {
  readonly seed: number
  readonly seconds: number
  /** Where the history goes. */
  readonly file: string
  readonly say: (text: string) => void
}

export interface Verdict {
  readonly lines: number
  readonly transactions: number
  readonly violations: ReadonlyArray<History.Violation>
}

const GRACE_SECONDS = 5

export const run = async ({ seed, seconds, file, say, ...options }: Wish): Promise<Verdict> => {
  writeFileSync(file, "")
  const write = (line: History.Line): void => appendFileSync(file, History.write(line))
  const chance = new Chance(seed, "histories")
  const world = await World.start(options)
  try {
    write({ kind: "genesis", accounts: world.accounts })
    const clients = new Clients(world, new Recorder(write), chance.stream("clients"))
    const until = performance.now() + Math.max(1, seconds - GRACE_SECONDS) * 1_000
    await Nemesis.rage(world, chance.stream("nemesis"), until, write, say)
    const isSettled = await clients.end()
    write({ kind: "settled", at: performance.now() })
    const history = History.read(readFileSync(file, "utf8"))
    const violations = [
      ...Checker.judge(history),
      ...(isSettled
        ? []
        : [{ rule: "unfinished", what: "some payments were not final two minutes after the last fault" }]),
    ]
    return { lines: history.length, transactions: clients.sent, violations }
  } finally {
    await world.end()
  }
}
