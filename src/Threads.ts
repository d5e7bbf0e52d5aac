/**
 * Starts thread programs. In a build, the compiler has put them below the folder of this module or of the bundle that
 * contains it. From source, `#threads` is `scripts/threads.mjs` instead.
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
