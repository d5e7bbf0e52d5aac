/** The one simulated world of this process, which the parts that replace the program's look up. */
import type { FakeNet } from "../network/FakeWire.js"
import type { Chance } from "../simulation/Chance.js"
import type { Time } from "./Time.js"

export interface Universe {
  readonly time: Time
  readonly net: FakeNet
  readonly chance: Chance
  /** The program of a thread, by its name in `src/Threads.ts`. */
  readonly textOf: (program: string) => string
  /** Where a machine listens for others. */
  readonly hostOf: (machine: string) => string
  /** A node has ended by itself, which ends the run. */
  readonly failed: (error: Error) => void
}

let only: Universe | undefined

export const begin = (universe: Universe): void => {
  only = universe
}

export const here = (): Universe => {
  if (only === undefined) throw new Error("there is no universe yet")
  return only
}
