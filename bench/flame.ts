/**
 * Where the time goes: V8's sampling profiler in a node under load, what it saw told by the part of the program that was
 * running, idle time left out. The profiler sees the main thread; signatures are checked in others.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Way } from "../test/network/Lines.js"
import type { Figure, Suite } from "./Harness.js"
import * as NetworkLoad from "./NetworkLoad.js"
import * as SoloLoad from "./SoloLoad.js"

const SECONDS = 15
const PARTS_SHOWN = 14
const SAMPLE_US = 500

interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

interface Profile {
  readonly nodes: ReadonlyArray<{ readonly id: number; readonly callFrame: Frame }>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

/** The bundler writes above each module where it is from. */
const MODULE = /^\/\/ (src|node_modules)\/(.+)$/

const partOfModule = (folder: string, path: string): string => {
  const [first = "", second = ""] = path.split("/")
  if (folder === "src") return `src/${first}`
  return first.startsWith("@") ? `${first}/${second}` : first
}

/** For each line of a file of the program, the part it belongs to. */
const partsOfFile = (url: string): ReadonlyArray<string> => {
  let part = "the program"
  return readFileSync(fileURLToPath(url), "utf8")
    .split("\n")
    .map((line) => {
      const [, folder, path] = MODULE.exec(line) ?? []
      if (folder !== undefined && path !== undefined) part = partOfModule(folder, path)
      return part
    })
}

const partOf = (files: Map<string, ReadonlyArray<string>>, { functionName, url, lineNumber }: Frame): string => {
  if (url === "") return functionName.startsWith("(") ? functionName.slice(1, -1) : "native functions of Node"
  if (url.startsWith("node:")) return "Node"
  if (url.includes("/node_modules/"))
    return url
      .slice(url.lastIndexOf("/node_modules/") + 14)
      .split("/")
      .slice(0, 1)
      .join("")
  if (!url.startsWith("file:")) return "made at run time"
  const parts = files.get(url) ?? partsOfFile(url)
  files.set(url, parts)
  return parts[lineNumber] ?? "the program"
}

const sharesOf = ({ nodes, samples, timeDeltas }: Profile): ReadonlyArray<readonly [part: string, share: number]> => {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const files = new Map<string, ReadonlyArray<string>>()
  const times = new Map<string, number>()
  let busy = 0
  for (const [i, id] of samples.entries()) {
    const frame = frames.get(id)
    if (frame === undefined || frame.functionName === "(idle)") continue
    const part = partOf(files, frame)
    const time = timeDeltas[i] ?? 0
    times.set(part, (times.get(part) ?? 0) + time)
    busy += time
  }
  return [...times].map(([part, time]) => [part, time / busy] as const).sort(([, a], [, b]) => b - a)
}

const profiled = async (name: string, load: (way: Way) => Promise<unknown>): Promise<ReadonlyArray<Figure>> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-profile-"))
  try {
    const options = ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${SAMPLE_US}`]
    await load({ execArgv: options, environment: {} })
    // Every thread leaves one; the main thread is number 0.
    const file = readdirSync(folder).find((one) => /\.0\.\d+\.cpuprofile$/.test(one))
    if (file === undefined) throw new Error("the node left no profile")
    const shares = sharesOf(JSON.parse(readFileSync(join(folder, file), "utf8")))
    return shares
      .slice(0, PARTS_SHOWN)
      .map(([part, share]) => ({ name: `${name}: ${part}`, value: 100 * share, unit: "% of the main thread's work" }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const figures = async (): Promise<ReadonlyArray<Figure>> => [
  ...(await profiled("solo, arrays of 100", (way) =>
    SoloLoad.run({ roundMs: 100, seconds: SECONDS, batch: 100, offeredPerSecond: 8_000, way }),
  )),
  ...(await profiled("solo, one a request", (way) =>
    SoloLoad.run({ roundMs: 100, seconds: SECONDS, batch: 1, offeredPerSecond: 6_500, way }),
  )),
  ...(await profiled("one of four validators", (way) => NetworkLoad.run({ seconds: SECONDS, perSecond: 800, way }))),
]

export const suite: Suite = { about: `where a loaded node spends its time, ${SECONDS} seconds for each load`, figures }
