/** Who used the processors: a node, and everything else on this machine. */
import { readdirSync, readFileSync } from "node:fs"
import type * as Processes from "../test/network/Processes.js"

/** Clock ticks per second, the unit of Linux' processor times. */
const TICKS = 100

/** Own time, without that of ended children. */
const usedMs = (stat: string): number => {
  const fields = readFileSync(stat, "utf8").split(") ")[1]?.split(" ") ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS
}

/** Processor time of a node's process so far, over all threads. */
export const cpuMs = ({ pid }: Pick<Processes.Started, "pid">): number => usedMs(`/proc/${pid}/stat`)

export interface ThreadTime {
  /** The thread's own name. */
  readonly name: string
  readonly milliseconds: number
}

/** The same for each thread, by system id. */
export const threadsCpuMs = ({ pid }: Processes.Started): ReadonlyMap<string, ThreadTime> =>
  new Map(
    readdirSync(`/proc/${pid}/task`).map((task) => {
      const folder = `/proc/${pid}/task/${task}`
      const name = readFileSync(`${folder}/comm`, "utf8").trimEnd()
      return [task, { name, milliseconds: usedMs(`${folder}/stat`) }]
    }),
  )

/** The processors' total time so far, their idle time, and the time that a virtual machine's host gave to others. */
const shared = (): { readonly idle: number; readonly withheld: number; readonly all: number } => {
  const times = readFileSync("/proc/stat", "utf8").split("\n")[0]?.split(/ +/).slice(1, 9).map(Number) ?? []
  const [idle, waitingForDisk] = [times[3] ?? 0, times[4] ?? 0]
  return { idle: idle + waitingForDisk, withheld: times[7] ?? 0, all: times.reduce((sum, time) => sum + time, 0) }
}

const shareSinceNow = (of: (times: ReturnType<typeof shared>) => number): (() => number) => {
  const before = shared()
  return () => {
    const after = shared()
    return (of(after) - of(before)) / Math.max(1, after.all - before.all)
  }
}

/** Returns a function for the share of processor time that the host withheld since; 0 if it is not counted. */
export const withheldSinceNow = (): (() => number) => shareSinceNow(({ withheld }) => withheld)

/** Returns a function for the share that was used on this machine since. */
export const usedSinceNow = (): (() => number) => shareSinceNow(({ all, idle, withheld }) => all - idle - withheld)
