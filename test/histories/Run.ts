/** One run: a network, its clients and faults for a limited time, followed by the verdict. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { Chance } from "../simulation/Chance.js"
import * as Checker from "./Checker.js"
import { Clients } from "./Clients.js"
import * as History from "./History.js"
import * as Nemesis from "./Nemesis.js"
import { Recorder } from "./Recorder.js"
import type { Stage } from "./Stage.js"

export interface Wish {
  readonly seed: number
  readonly seconds: number
  /** The nemesis's faults; all by default. */
  readonly weather?: ReadonlyArray<string> | undefined
  /** Where the history is written. */
  readonly file: string
  readonly say: (text: string) => void
}

export interface Verdict {
  readonly lines: number
  readonly transactions: number
  readonly violations: ReadonlyArray<History.Violation>
  /** When the history first showed one, from its beginning. */
  readonly shownAfterMs: number | null
}

const timeOf = (line: History.Line): number => ("ended" in line ? line.ended : "at" in line ? line.at : 0)

/** A history that ends at any time knows all that was sent by then and is still under way. */
const shownAfterMs = (history: History.History, violations: ReadonlyArray<History.Violation>): number | null => {
  // An early end has no statements with everything in them, and so breaks other rules.
  const rules = new Set(violations.map(({ rule }) => rule))
  const times = history.map(timeOf).filter((time) => time > 0)
  const until = (time: number) => history.filter((line) => line.kind === "submit" || timeOf(line) <= time)
  const sorted = times.sort((a, b) => a - b)
  let [low, high] = [0, sorted.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (Checker.judge(until(sorted[middle] ?? 0)).some(({ rule }) => rules.has(rule))) high = middle
    else low = middle + 1
  }
  return (sorted[low] ?? 0) - (sorted[0] ?? 0)
}

const GRACE_SECONDS = 5

/** Where a run takes place. */
export interface Place<S extends Stage> {
  readonly start: (chance: Chance) => Promise<S>
  readonly faults: ReadonlyArray<Nemesis.Fault<S>>
}

export const run = async <S extends Stage>(
  { seed, seconds, file, say, weather }: Wish,
  { start, faults }: Place<S>,
): Promise<Verdict> => {
  writeFileSync(file, "")
  const write = (line: History.Line): void => appendFileSync(file, History.write(line))
  const chance = new Chance(seed, "histories")
  const world = await start(chance)
  try {
    write({ kind: "genesis", accounts: world.accounts })
    const clients = new Clients(world, new Recorder(write), chance.stream("clients"))
    const until = performance.now() + Math.max(1, seconds - GRACE_SECONDS) * 1_000
    await Nemesis.rage(world, faults, chance.stream("nemesis"), until, weather, write, say)
    const isSettled = await clients.end()
    for (const line of world.newlySigned()) write(line)
    write({ kind: "settled", at: performance.now() })
    const history = History.read(readFileSync(file, "utf8"))
    const violations = [
      ...Checker.judge(history),
      ...(isSettled
        ? []
        : [{ rule: "unfinished", what: "some payments were not final two minutes after the last fault" }]),
    ]
    const isShown = violations.length > 0
    return {
      lines: history.length,
      transactions: clients.sent,
      violations,
      shownAfterMs: isShown ? shownAfterMs(history, violations) : null,
    }
  } finally {
    await world.end()
  }
}
