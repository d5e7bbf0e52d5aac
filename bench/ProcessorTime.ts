/** What a node's process has used so far, all its threads together. */
import { readFileSync } from "node:fs"
import type * as Processes from "../test/network/Processes.js"

/** Clock ticks a second, in which Linux counts processor time. */
const TICKS = 100

export const cpuMs = ({ pid }: Processes.Started): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS
}
