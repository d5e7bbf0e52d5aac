/**
 * `kill -9` at random moments under load, repeatedly on one data directory, and the same with power cuts: see
 * `PowerCut`. What the node told the outside world, logged in another file, must hold after every restart.
 * UDG_CRASH_ROUNDS sets the number of lives in the full run; the usual run has a few.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as NodeProof from "../../src/network/tls/NodeProof.js"
import * as KeyFile from "../../src/storage/files/KeyFile.js"
import * as SignerProcess from "../signer/SignerProcess.js"
import { Chance } from "../simulation/Chance.js"
import * as PowerCut from "../storage/PowerCut.js"
import { sqlite } from "../storage/world.js"
import * as Bundle from "../support/Bundle.js"
import * as Recorded from "../support/Recorded.js"
import * as Rest from "../support/Rest.js"
import * as world from "./world.js"

const LIVES = Number(process.env["UDG_CRASH_ROUNDS"] ?? 24)
const SEED = Number(process.env["UDG_CRASH_SEED"] ?? 20_260_131)
/** A life lasts until this many vertices are made, however busy the machine is, and a moment more. */
const LIFE_HEADERS = 40
const MOMENT_MS = 20

interface Told {
  readonly starts: number
  readonly finals: ReadonlyArray<string>
  readonly headers: ReadonlyArray<readonly [slot: string, hash: string]>
  readonly complaints: ReadonlyArray<string>
}

const read = (log: string): Told => {
  const lines = existsSync(log) ? readFileSync(log, "utf8").split("\n") : []
  const words = lines.map((line) => line.split(" "))
  return {
    starts: lines.filter((line) => line === "running").length,
    finals: words.flatMap(([what, id]) => (what === "final" && id?.length === 64 ? [id] : [])),
    headers: words.flatMap(([what, epoch, round, hash]) =>
      what === "header" && hash?.length === 64 ? [[`${epoch}/${round}`, hash] as const] : [],
    ),
    complaints: lines.filter((line) => line.startsWith("lost ") || line.startsWith("ended ")),
  }
}

describe(Rest.of("nodes that are killed", "a node that ends at random moments under load"), () => {
  let folder = ""
  let program = ""

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "udg-crash-"))
    program = await Bundle.make({ entry: "test/node/processes/load.ts", outfile: `load-${process.pid}/load.mjs` })
  })
  afterAll(() => {
    SignerProcess.killAll()
    rmSync(folder, { recursive: true, force: true })
    rmSync(dirname(program), { recursive: true, force: true })
  })

  const untilRunning = async (log: string, starts: number, child: ChildProcess) => {
    for (let waited = 0; waited < 60_000; waited += 10) {
      if (read(log).starts >= starts || child.exitCode !== null) return
      await sleep(10)
    }
  }

  const untilHeaders = async (log: string, headers: number, child: ChildProcess) => {
    for (let waited = 0; waited < 60_000; waited += 5) {
      if (read(log).headers.length >= headers || child.exitCode !== null) return
      await sleep(5)
    }
  }

  const start = (directory: string, log: string, { patienceMs, signer }: Story) => {
    const words = [program, directory, log, String(patienceMs), ...(signer ? [signer.id, String(signer.port)] : [])]
    const child = spawn(process.execPath, words, { stdio: "inherit" })
    return { child, ended: once(child, "exit") }
  }

  interface Story {
    readonly name: string
    readonly count: number
    /** How long a life has to find what was reported as final. */
    readonly patienceMs: number
    /** What is done to the files of a killed node, or to its signer. */
    readonly harm: (directory: string, chance: Chance) => void | Promise<void>
    readonly signer?: Pick<SignerProcess.SignerProcess, "id" | "port">
  }

  /** Lives of one node, each killed at a random moment; returns its directory and what it reported. */
  const lives = async (story: Story) => {
    const { name, count, harm } = story
    const chance = new Chance(SEED)
    const directory = join(folder, `${name}-${count}`)
    const log = `${directory}.log`
    for (let life = 1; life <= count; life++) {
      const { child, ended } = start(directory, log, story)
      // One in five dies during start-up.
      if (chance.percent(20)) await sleep(chance.fraction() * 600)
      else {
        await untilRunning(log, read(log).starts + 1, child)
        await untilHeaders(log, read(log).headers.length + chance.fraction() * LIFE_HEADERS, child)
        await sleep(chance.fraction() * MOMENT_MS)
      }
      child.kill("SIGKILL")
      await ended
      expect(read(log).complaints, `life ${life}`).toEqual([])
      await harm(directory, chance)
    }

    const told = read(log)
    expect(told.finals.length).toBeGreaterThan(count)
    const hashOf = new Map<string, string>()
    for (const [slot, hash] of told.headers) {
      expect(hashOf.get(slot) ?? hash, `slot ${slot}`).toBe(hash)
      hashOf.set(slot, hash)
    }

    // A last life that is not killed counts the supply and compares the root; then the file itself is checked.
    const { child, ended } = start(directory, log, story)
    await untilRunning(log, told.starts + 1, child)
    child.kill("SIGKILL")
    await ended
    expect(read(log).complaints).toEqual([])
    return { directory, told: read(log) }
  }

  const requireWhole = async (directory: string, { finals }: Told): Promise<void> => {
    const rows = (statement: string) => Effect.runPromise(sqlite(join(directory, "udg.db"), statement))
    const known = new Set((await rows(Recorded.SHORT_HASHES)).map(([id]) => id))
    expect(finals.filter((id) => !known.has(Recorded.shortOf(id)))).toEqual([])
    const [[count, first, last] = []] = await rows("select count(*), min(commit_index), max(commit_index) from commits")
    expect({ first, count }).toEqual({ first: 0, count: Number(last) + 1 })
    const unchained = await rows(
      `select later.commit_index from commits later
       join commits earlier on earlier.commit_index = later.commit_index - 1 where later.previous <> earlier.hash`,
    )
    expect(unchained).toEqual([])
  }

  const survivesKills = async (count: number): Promise<void> => {
    const { directory, told } = await lives({ name: "killed", count, patienceMs: 0, harm: () => undefined })
    await requireWhole(directory, told)
  }

  const survivesWithASigner = async (count: number): Promise<void> => {
    const name = "signed"
    const home = join(folder, `${name}-${count}`)
    const of = (file: string): string => join(home, file)
    mkdirSync(home)
    await Effect.runPromise(world.found(home, { roundIntervalMs: 5 }))
    const nodeKey = KeyFile.loadOrCreate(of("node.key")).pipe(Effect.provide(world.platform))
    const node = NodeProof.idOf(await Effect.runPromise(nodeKey))
    const directory = `${home}-signer`
    const place = { directory, genesisFile: of("genesis.json"), keyFile: of("validator.key") }
    expect(await SignerProcess.signFrom(place, "1:1")).toBe(0)
    let signer = await SignerProcess.start(place, [node])
    const { id, port } = signer
    const harm = async (_: string, chance: Chance): Promise<void> => {
      if (chance.percent(50)) return
      await signer.kill()
      signer = await SignerProcess.start(place, [node], port)
    }
    const lived = await lives({ name, count, patienceMs: 0, harm, signer: { id, port } })
    await signer.kill()
    await requireWhole(lived.directory, lived.told)
  }

  const survivesPowerCuts = async (count: number): Promise<number> => {
    let lostFrames = 0
    const harm = (directory: string, chance: Chance): void => {
      for (const { frames, kept } of PowerCut.cutNode(directory, chance)) lostFrames += frames - kept
    }
    const { directory, told } = await lives({ name: "cut", count, patienceMs: 30_000, harm })
    await requireWhole(directory, told)
    return lostFrames
  }

  const ofAll = { timeout: LIVES * 60_000 }

  it(`loses nothing, leaves no gap and signs nothing twice in ${LIVES} lives (seed ${SEED})`, ofAll, () =>
    survivesKills(LIVES),
  )

  it(`does so with its key at a signer, which is killed too, in ${LIVES} lives (seed ${SEED})`, ofAll, () =>
    survivesWithASigner(LIVES),
  )

  it(`decides again what ${LIVES} power cuts took, and signs nothing twice (seed ${SEED})`, ofAll, async () => {
    // A few cuts can all come when everything is on the disk; this many cannot.
    expect(await survivesPowerCuts(LIVES)).toBeGreaterThan(LIVES)
  })
})
