/** What a process takes from the machine, as Linux counts it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Sqlite } from "../src/storage/sqlite/Driver.js"

/** Resident memory. */
export const memoryMiB = ({ pid }: { readonly pid: number }): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1_024

/** What it has given to disks so far. */
export const writtenBytes = ({ pid }: { readonly pid: number }): number =>
  Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? Number.NaN)

/** The sum over a process and its children, such as PostgreSQL's, of which some may be ending. */
export const ofFamily = (pid: number, of: (process: { readonly pid: number }) => number): number =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter((child) => child !== "")
    .reduce((sum, child) => {
      try {
        return sum + of({ pid: Number(child) })
      } catch {
        return sum
      }
    }, of({ pid }))

/** Memory that a process has alone, and its part of what several share. */
export const shareOfMemoryMiB = ({ pid }: { readonly pid: number }): number =>
  Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? Number.NaN) / 1_024

/** All bytes sent over loopback so far, with their headers. */
export const loopbackBytes = (): number =>
  Number(/^ *lo: *(\d+)/m.exec(readFileSync("/proc/net/dev", "utf8"))?.[1] ?? Number.NaN)

/** Traces a process from its start, without slowing other system calls than these. */
export const traced = (log: string): ReadonlyArray<string> => [
  ...["-D", "-f", "--seccomp-bpf", "-qq", "-s", "0", "-e", "trace=pwrite64,fsync,fdatasync", "-e", "signal=none"],
  ...["-o", log],
]

export interface Calls {
  readonly syncs: number
  readonly writes: number
  readonly bytes: number
}

export const callsIn = (log: string): Calls => {
  const text = readFileSync(log, "utf8")
  const count = (pattern: RegExp) => [...text.matchAll(pattern)]
  const writes = count(/ pwrite64\(\d+, \S+, (\d+),/g)
  return {
    syncs: count(/ f(?:data)?sync\(/g).length,
    writes: writes.length,
    bytes: writes.reduce((sum, [, bytes]) => sum + Number(bytes), 0),
  }
}

/** A database's pages by table and index. */
export const tablesIn = (directory: string, file: string): ReadonlyMap<string, number> => {
  const database = new Sqlite(join(directory, file), { readonly: true })
  try {
    const rows = database.prepare("select name, sum(pgsize) from dbstat group by name").raw().all([])
    return new Map(rows as Array<readonly [string, number]>)
  } finally {
    database.close()
  }
}
