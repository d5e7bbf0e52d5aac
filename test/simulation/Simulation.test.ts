import { rm } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as Bundle from "./Bundle.js"
import * as Planted from "./Planted.js"
import * as Replay from "./Replay.js"
import { optionsOf, type Report } from "./Simulation.js"
import { FAULTS } from "./Storm.js"
import * as Sweep from "./Sweep.js"

const MINUTE = 60_000
/** A seed takes about a second of one core. */
const USUAL_SEEDS = 2
const SEEDS = Number(process.env["UDG_SIMULATED_SEEDS"] ?? 100)
const SEEDS_TO_FIND_A_FAULT = 200
/** A new thread takes as long for its first seeds as later for ten, so one thread is enough for a few seeds. */
const THREADS = Rest.selectionOf(process.env["UDG_TESTS"]) === "usual" ? 1 : availableParallelism()
/** Faults that the first seconds of four validators show, one of each kind: commits, signing, lines, versions. */
const QUICK: ReadonlySet<string> = new Set([
  "commit-with-2f",
  "skip-with-a-third",
  "signs-after-a-loss",
  "shown-after-a-pause",
  "signer-forgets",
])

const reportsOf = async (crew: Sweep.Crew, options: ReadonlyArray<ReturnType<typeof optionsOf>>) => {
  const reports = new Map<number, Array<Report>>()
  await crew.run(options, (report) => {
    reports.set(report.seed, [...(reports.get(report.seed) ?? []), report])
    return true
  })
  return reports
}

let bundle = ""
let crew: Sweep.Crew

beforeAll(async () => {
  bundle = await Bundle.make()
  crew = new Sweep.Crew(bundle, THREADS)
})

afterAll(async () => {
  await crew.dismiss()
  await rm(bundle, { force: true })
})

describe("a simulated network", () => {
  /** Runs the seeds after `first`, up to `last`. */
  const keepsEveryPromise = async (first: number, last: number) => {
    const failures: Array<string> = []
    let closedEpochs = 0
    const all = Array.from({ length: last - first }, (_, i) => optionsOf(first + i + 1))
    await crew.run(all, (report) => {
      const options = optionsOf(report.seed)
      if (report.failure === null) closedEpochs += report.epochs - 1
      else failures.push(Replay.failure(options, report))
      // A few traces are enough.
      return failures.length < 3
    })
    expect(failures.join("\n\n")).toBe("")
    expect(closedEpochs).toBeGreaterThanOrEqual(2 * all.length)
  }

  it(`satisfies every check through ${USUAL_SEEDS} seeds of mixed faults`, () => keepsEveryPromise(0, USUAL_SEEDS))
  it(Rest.of("more seeds", `satisfies every check through the seeds up to ${SEEDS}`), { timeout: 60 * MINUTE }, () =>
    keepsEveryPromise(USUAL_SEEDS, SEEDS),
  )

  const livesTheSameLife = async (seeds: ReadonlyArray<number>) => {
    const options = seeds.map((seed) => optionsOf(seed, 4, 90, FAULTS))
    const reports = await reportsOf(crew, [...options, ...options])
    for (const seed of seeds) {
      const [first, second] = reports.get(seed) ?? []
      expect(first).toBeDefined()
      expect(second).toEqual(first)
    }
    expect(new Set([...reports.values()].flat().map(({ digest }) => digest)).size).toBe(seeds.length)
  }

  it("repeats a run exactly for the same seed", () => livesTheSameLife([1]))
  it(Rest.of("more seeds", "repeats runs exactly for the same seeds, and differs between seeds"), () =>
    livesTheSameLife([1, 50]),
  )

  const soundReportsOf = async (options: ReadonlyArray<ReturnType<typeof optionsOf>>) => {
    const reports = [...(await reportsOf(crew, options)).values()].flat()
    expect(reports.map(({ failure }) => failure?.message ?? null)).toEqual(options.map(() => null))
    return reports
  }

  const upgrades = async (seeds: ReadonlyArray<number>) => {
    const reports = await soundReportsOf(seeds.map((seed) => ({ ...optionsOf(seed), upgrades: true })))
    expect(reports.filter(({ protocolVersion }) => protocolVersion === 3).length).toBeGreaterThan(seeds.length / 2)
  }
  const withSigners = async (seeds: ReadonlyArray<number>) => {
    await soundReportsOf(seeds.map((seed) => ({ ...optionsOf(seed, 5, 150), signers: true })))
  }
  const rotates = async (seeds: ReadonlyArray<number>) => {
    const reports = await soundReportsOf(seeds.map((seed) => ({ ...optionsOf(seed, 5, 200), rotations: true })))
    expect(reports.filter(({ rotations }) => rotations > 0).length).toBeGreaterThan(seeds.length / 2)
  }

  describe.each([
    ["upgrades to the next protocol version", upgrades],
    ["goes on with remote signers", withSigners],
    ["changes validators' keys", rotates],
  ])("%s", (_, lives) => {
    it("through mixed faults", () => lives([1]))
    it(Rest.of("more seeds", "with twenty more seeds"), { timeout: 30 * MINUTE }, () =>
      lives(Array.from({ length: 20 }, (_, i) => i + 2)),
    )
  })

  const settlesOthers = (seed: number, sizes: ReadonlyArray<number>) =>
    soundReportsOf(sizes.map((nodes, i) => optionsOf(1_000 * i + seed, nodes, 90)))

  it("settles networks of one and four validators", () => settlesOthers(1, [1, 4]))
  it(Rest.of("more seeds and validators", "settles networks of one to thirteen validators with other seeds"), {
    timeout: 10 * MINUTE,
  }, async () => {
    await settlesOthers(1, [1, 4, 10])
    await settlesOthers(2, [1, 4, 10, 13])
  })
})

describe("the planted faults", () => {
  it("have unique names and are at least eleven", () => {
    expect(new Set(Planted.faults.map(({ name }) => name)).size).toBe(Planted.faults.length)
    expect(Planted.faults.length).toBeGreaterThanOrEqual(11)
  })
})

// One bundle holds all faults, and its thread activates one per run: a new thread per fault would need seconds to warm
// up.
describe("the simulator with planted faults", () => {
  let bundle = ""
  let planting: Sweep.Crew

  beforeAll(async () => {
    bundle = await Bundle.makeWithAll()
    planting = new Sweep.Crew(bundle, 1)
  })

  afterAll(async () => {
    await planting.dismiss()
    await rm(bundle, { force: true })
  })

  // Most are found by their first seed.
  describe("finds a program in which", () => {
    const find = async ({
      name,
      seed,
      nodes,
      rounds,
      weather,
      upgrades = false,
      rotations = false,
      signers = false,
    }: Planted.Fault): Promise<void> => {
      const seeds = [seed, ...Array.from({ length: SEEDS_TO_FIND_A_FAULT }, (_, i) => i + 1)]
      let isFound = false
      await planting.run(
        seeds.map((seed) => ({ ...optionsOf(seed, nodes, rounds, weather), upgrades, rotations, signers })),
        ({ failure }) => {
          isFound ||= failure !== null
          return !isFound
        },
        name,
      )
      expect(isFound).toBe(true)
    }

    const casesOf = (isQuick: boolean) =>
      Planted.faults.filter(({ name }) => QUICK.has(name) === isQuick).map((fault) => [fault.story, fault] as const)
    it.each(casesOf(true))("%s", { timeout: 10 * MINUTE }, (_, fault) => find(fault))
    it.each(casesOf(false))(Rest.of("longer lives", "%s"), { timeout: 10 * MINUTE }, (_, fault) => find(fault))
  })

  it("runs like the program under test while no fault is active", async () => {
    const lifeOf = async (crew: Sweep.Crew) => (await reportsOf(crew, [optionsOf(1, 4, 90)])).get(1)
    const expected = await lifeOf(crew)
    expect(expected).toMatchObject([{ failure: null }])
    expect(await lifeOf(planting)).toEqual(expected)
  })
})
