/**
 * Starts the programs of threads. A built program finds them by their place: the compiler has left them below the folder
 * that this module, or the bundle it is in, lies in. From source, `#threads` is `scripts/threads.mjs` instead.
 */
import { Worker } from "node:worker_threads"

/** Files below `src/`, each the program of a thread. */
export const PROGRAMS = [
  "storage/sqlite/WriterProgram",
  "storage/tables/SupplyProgram",
  "node/signatures/SignatureProgram",
] as const

export type Program = (typeof PROGRAMS)[number]

/** The program finds `data` as its `workerData`. */
export const start = (program: Program, data?: string): Worker =>
  new Worker(new URL(`./${program}.js`, import.meta.url), { workerData: data })
