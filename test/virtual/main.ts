/** The program of one simulated run; `Program.ts` bundles and starts it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Chance } from "../simulation/Chance.js"
import * as Chosen from "../support/Chosen.js"
import * as Databases from "./Databases.js"
import * as Sockets from "./Sockets.js"
import { Time } from "./Time.js"
import * as Universe from "./Universe.js"

export interface Order {
  readonly seed: number
  readonly seconds: number
  readonly weather?: ReadonlyArray<string> | undefined
  readonly fault?: string | undefined
  readonly file: string
}

/** From the last fault to the verdict. */
const LONGEST_END_SECONDS = 1_000

const order: Order = JSON.parse(process.argv[2] ?? "")
Chosen.choose(order.fault)

const chance = new Chance(order.seed, "virtual")
const time = new Time(chance.stream("program"))
const texts = new Map<string, string>()
const textOf = (program: string): string => {
  const text = texts.get(program) ?? readFileSync(join(import.meta.dirname, `${program}.js`), "utf8")
  texts.set(program, text)
  return text
}
const clock = {
  now: time.now,
  spareNow: time.now,
  spareShare: () => 1,
  after: (ms: number, act: () => void) => {
    let isOver = false
    time.outside.after(ms, () => {
      if (!isOver) act()
    })
    return () => {
      isOver = true
    }
  },
  wait: (ms: number) => new Promise<void>((resolve) => time.here.after(ms, resolve)),
}

// Before anything of the program is loaded: much of it keeps the functions that it finds.
time.install()
const { FakeNet } = await import("../network/FakeWire.js")
const { hostOf, place } = await import("./World.js")
const { run } = await import("../histories/Run.js")
let failed: (error: Error) => void = () => {}
const failure = new Promise<never>((_, reject) => {
  failed = reject
})
const net = new FakeNet(chance.stream("net"), clock)
Universe.begin({ time, chance: chance.stream("machines"), net, textOf, hostOf, failed })
Sockets.install()
Databases.install()

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const { seed, seconds, weather, file } = order
const judged = time.outside.run(() => run({ seed, seconds, weather, file, say }, place))
const verdict = await time.until(Promise.race([judged, failure]), 1_000 * (seconds + LONGEST_END_SECONDS))
process.stdout.write(`${JSON.stringify(verdict)}\n`)
process.exit(0)
