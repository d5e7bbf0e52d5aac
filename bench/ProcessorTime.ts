/** Who has used the processors: a node, and those with whom this machine shares them. */
import { readdirSync, readFileSync } from "node:fs"
import type * as Processes from "../test/network/Processes.js"

/** Clock ticks a second, in which Linux counts processor time. */
const TICKS = 100

const usedMs = (stat: string): number => {
  const fields = readFileSync(stat, "utf8").split(") ")[1]?.split(" ") ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS
}

/** What a node's process has used so far, all its threads together. */
export const cpuMs = ({ pid }: Processes.Started): number => usedMs(`/proc/${pid}/stat`)

export interface ThreadTime {
  /** As the thread calls itself. */
  readonly name: string
  readonly milliseconds: number
}

/** The same for each of its threads, by the system's number. */
export const threadsCpuMs = ({ pid }: Processes.Started): ReadonlyMap<string, ThreadTime> =>
  new Map(
    readdirSync(`/proc/${pid}/task`).map((task) => {
      const folder = `/proc/${pid}/task/${task}`
      const name = readFileSync(`${folder}/comm`, "utf8").trimEnd()
      return [task, { name, milliseconds: usedMs(`${folder}/stat`) }]
    }),
  )

/** A virtual machine's processors that wanted to run while its host ran something else, and all their time. */
const shared = (): { readonly withheld: number; readonly all: number } => {
  const times = readFileSync("/proc/stat", "utf8").split("\n")[0]?.split(/ +/).slice(1, 9).map(Number) ?? []
  return { withheld: times[7] ?? 0, all: times.reduce((sum, time) => sum + time, 0) }
}

/** Asked later, says which part of the processors' time from now till then the host has withheld; 0 where nobody counts it. */
export const withheldSinceNow = (): (() => number) => {
  const before = shared()
  return () => {
    const after = shared()
    return (after.withheld - before.withheld) / Math.max(1, after.all - before.all)
  }
}
