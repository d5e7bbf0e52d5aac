/** The last measurements by suite, each with the machine's state at the time. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { dirname, join } from "node:path"
import type { Figure } from "./Harness.js"

export interface Measured {
  readonly figures: ReadonlyArray<Figure>
  /** Medians if there were several runs. */
  readonly runs?: number
}

export interface SuiteRecord extends Measured {
  readonly about: string
  /** The machine's raw rates, measured just before. */
  readonly machine: ReadonlyArray<Figure>
  /** The share of processor time that the host gave to others meanwhile. */
  readonly withheld?: number
}

export interface Record {
  readonly node: string
  readonly cores: number
  readonly architecture: string
  readonly suites: { readonly [name: string]: SuiteRecord }
}

const FILE = join(import.meta.dirname, "results", "latest.json")

const NOTHING: Record = { node: process.version, cores: availableParallelism(), architecture: process.arch, suites: {} }

export const read = (): Record => (existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : NOTHING)

/** Three digits contain everything reproducible. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

/** Replaces these suites' results and keeps the others. */
export const keep = (suites: Record["suites"]): void => {
  mkdirSync(dirname(FILE), { recursive: true })
  const all = { ...read().suites, ...suites }
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(FILE, `${JSON.stringify({ ...NOTHING, suites: sorted }, rounded, 2)}\n`)
}
