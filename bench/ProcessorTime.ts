/** Who has used the processors: a node, and those with whom this machine shares them. */
import { readdirSync, readFileSync } from "node:fs"
import type * as Processes from "../test/network/Processes.js"

/** Clock ticks a second, in which Linux counts processor time. */
const TICKS = 100

/** Own time, and that of the children that have ended. */
const timesOf = (stat: string): { readonly own: number; readonly ended: number } => {
  const fields = readFileSync(stat, "utf8").split(") ")[1]?.split(" ") ?? []
  const sum = (at: number) => ((Number(fields[at]) + Number(fields[at + 1])) * 1_000) / TICKS
  return { own: sum(11), ended: sum(13) }
}

const usedMs = (stat: string): number => timesOf(stat).own

/** What a node's process has used so far, all its threads together. */
export const cpuMs = ({ pid }: Pick<Processes.Started, "pid">): number => usedMs(`/proc/${pid}/stat`)

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

/** What a process and all its children have used so far, as a server of PostgreSQL has one for each connection. */
export const familyMs = (pid: number): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")
  const living = children.filter((text) => text !== "").map((child) => cpuMs({ pid: Number(child) }))
  const { own, ended } = timesOf(`/proc/${pid}/stat`)
  return living.reduce((sum, ms) => sum + ms, own + ended)
}

/** All processors' time so far, what of it nobody used, and what the host of a virtual machine gave to others meanwhile. */
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

/** Asked later, says which part of the processors' time from now till then the host has withheld; 0 where nobody counts it. */
export const withheldSinceNow = (): (() => number) => shareSinceNow(({ withheld }) => withheld)

/** Asked later, says which part of it somebody on this machine has used. */
export const usedSinceNow = (): (() => number) => shareSinceNow(({ all, idle, withheld }) => all - idle - withheld)
