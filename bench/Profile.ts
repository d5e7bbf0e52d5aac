/**
 * A node's processor time: by threads as the system counts it and, on request, the main thread's by parts of the
 * program, from V8's sampling profiler.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Way } from "../test/network/Lines.js"
import type * as Processes from "../test/network/Processes.js"
import { Modules, type Place } from "./Modules.js"
import { cpuMs, type ThreadTime, threadsCpuMs } from "./ProcessorTime.js"

/** A sample takes some microseconds; more of them would be a tenth of what they measure. */
const SAMPLE_US = 2_000

export interface Share {
  readonly name: string
  readonly milliseconds: number
}

export interface Spent {
  /** All threads together. */
  readonly milliseconds: number
  readonly threads: ReadonlyArray<Share>
  /** Empty without samples. */
  readonly parts: ReadonlyArray<Share>
}

interface Frame extends Place {
  readonly functionName: string
}

interface Node {
  readonly id: number
  readonly callFrame: Frame
  readonly children?: ReadonlyArray<number>
}

interface CpuProfile {
  readonly nodes: ReadonlyArray<Node>
  /** On the clock of `process.hrtime`, like all times here. */
  readonly startTime: number
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

/** The first matching prefix. Code of protocol counts by what it does, whoever called it. */
const PARTS: ReadonlyArray<readonly [path: string, part: string]> = [
  ["src/protocol/", "decode, encode and hash"],
  ["src/node/signatures/", "hand signatures to the threads"],
  ["src/rpc/", "read requests and write answers"],
  ["src/edge/", "read requests and write answers"],
  ["src/effect3/schema/", "read requests and write answers"],
  ["src/effect3/http/", "read requests and write answers"],
  ["src/ledger/pending/", "mempool"],
  ["src/ledger/trie/", "trie"],
  ["src/ledger/", "execute"],
  ["src/consensus/admission/", "admit"],
  ["src/consensus/dag/", "admit"],
  ["src/consensus/commit/", "order"],
  ["src/consensus/", "rounds and epochs"],
  ["src/replica/", "replica"],
  ["src/network/", "network"],
  ["src/storage/", "rows"],
  ["src/node/", "engine and services"],
  ["node_modules/effect/", "Effect"],
  ["node_modules/@effect/", "Effect"],
  ["node_modules/", "other packages"],
  ["src/", "other"],
]

const PROGRAMS: Readonly<Record<string, string>> = {
  main: "main",
  SignatureProgram: "checking",
  WriterProgram: "writing",
}

const IDLE = "(idle)"
const OF_V8: Readonly<Record<string, string>> = {
  "(garbage collector)": "garbage collector",
  "(program)": "outside of JavaScript",
  "(root)": "outside of JavaScript",
}

/** Each tree node's part: its own, or that of the nearest caller with one. */
const partsOfTree = ({ nodes }: CpuProfile, modules: Modules): ReadonlyMap<number, string> => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parts = new Map<number, string>()
  const visit = (node: Node, inherited: string): void => {
    const { functionName } = node.callFrame
    const module = modules.of(node.callFrame)
    const own = module && PARTS.find(([path]) => module.startsWith(path))?.[1]
    const part = OF_V8[functionName] ?? own ?? inherited
    parts.set(node.id, functionName === IDLE ? IDLE : part)
    for (const id of node.children ?? []) {
      const child = byId.get(id)
      if (child !== undefined) visit(child, own ?? inherited)
    }
  }
  const [root] = nodes
  if (root !== undefined) visit(root, "Node: HTTP, streams, timers")
  return parts
}

/** Samples between two times, by part, without idle ones. */
const samplesByPart = (profile: CpuProfile, from: number, to: number, modules: Modules) => {
  const parts = partsOfTree(profile, modules)
  const times = new Map<string, number>()
  let at = profile.startTime
  let busy = 0
  for (const [i, id] of profile.samples.entries()) {
    const time = profile.timeDeltas[i] ?? 0
    at += time
    const part = parts.get(id)
    if (part === undefined || part === IDLE || at < from || at > to) continue
    times.set(part, (times.get(part) ?? 0) + time)
    busy += time
  }
  return [...times].map(([part, time]) => [part, time / busy] as const)
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n)

interface Moment {
  readonly at: number
  readonly all: number
  readonly threads: ReadonlyMap<string, ThreadTime>
}

/** V8's names for threads that process samples. Without the profiler they do not exist, so their time is excluded. */
const PROFILER = "v8:ProfEvntProc"

const profilerMs = ({ threads }: Moment): number =>
  [...threads.values()].reduce((sum, { name, milliseconds }) => sum + (name === PROFILER ? milliseconds : 0), 0)

const momentOf = (node: Processes.Started): Moment => ({ at: nowUs(), all: cpuMs(node), threads: threadsCpuMs(node) })

const added = (shares: ReadonlyArray<readonly [name: string, milliseconds: number]>): ReadonlyArray<Share> => {
  const sums = new Map<string, number>()
  for (const [name, milliseconds] of shares) sums.set(name, (sums.get(name) ?? 0) + milliseconds)
  return [...sums]
    .map(([name, milliseconds]) => ({ name, milliseconds }))
    .sort((a, b) => b.milliseconds - a.milliseconds)
}

/** A folder where a node's threads record what they are and what they did. */
export class Profile {
  readonly #folder = mkdtempSync(join(tmpdir(), "udg-profile-"))
  readonly #takesSamples: boolean

  /** Samples are needed for parts only and cost the node a tenth of its time. */
  constructor({ takesSamples }: { readonly takesSamples: boolean }) {
    this.#takesSamples = takesSamples
  }

  get way(): Way {
    const execArgv = this.#takesSamples
      ? ["--cpu-prof", `--cpu-prof-dir=${this.#folder}`, `--cpu-prof-interval=${SAMPLE_US}`]
      : []
    const naming = ["--import", join(import.meta.dirname, "nameThread.mjs")]
    return { execArgv: [...execArgv, ...naming], environment: { UDG_BENCH_FOLDER: this.#folder } }
  }

  /** Starts counting. The result ends it and is read again once the node has stopped. */
  begin(node: Processes.Started): { readonly end: () => void; readonly spent: () => Spent } {
    const before = momentOf(node)
    let after = before
    return { end: () => (after = momentOf(node)), spent: () => this.#spent(before, after) }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }

  #spent(before: Moment, after: Moment): Spent {
    const files = readdirSync(this.#folder)
    const modules = new Modules()
    const threads: Array<readonly [string, number]> = []
    const parts: Array<readonly [string, number]> = []
    let known = 0
    for (const file of files.filter((file) => file.endsWith(".json"))) {
      const { task, program } = JSON.parse(readFileSync(join(this.#folder, file), "utf8"))
      const milliseconds = (after.threads.get(task)?.milliseconds ?? 0) - (before.threads.get(task)?.milliseconds ?? 0)
      const name = PROGRAMS[program] ?? program
      known += milliseconds
      threads.push([name, milliseconds])
      if (!this.#takesSamples) continue
      if (name !== "main") {
        parts.push([`thread: ${name}`, milliseconds])
        continue
      }
      const left = files.find((one) => one.endsWith(`.cpuprofile`) && one.split(".").at(-3) === "0")
      if (left === undefined) throw new Error("the node left no profile")
      const profile: CpuProfile = JSON.parse(readFileSync(join(this.#folder, left), "utf8"))
      const shares = samplesByPart(profile, before.at, after.at, modules)
      for (const [part, share] of shares) parts.push([part, share * milliseconds])
    }
    const milliseconds = after.all - before.all - (profilerMs(after) - profilerMs(before))
    const rest = ["pool, compiler and collector", milliseconds - known] as const
    return {
      milliseconds,
      threads: added([...threads, rest]),
      parts: this.#takesSamples ? added([...parts, rest]) : [],
    }
  }
}
