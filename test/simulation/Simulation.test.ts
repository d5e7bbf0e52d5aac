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
/** A second or so of one core each. */
const USUAL_SEEDS = 2
const SEEDS = Number(process.env["UDG_SIMULATED_SEEDS"] ?? 150)
const SEEDS_TO_FIND_A_FAULT = 200
/** A fresh thread takes as long for its first seeds as later for ten, so few seeds need no second one. */
const THREADS = Rest.selectionOf(process.env["UDG_TESTS"]) === "usual" ? 1 : availableParallelism()
/** Each shows only after two to ten seconds of one core. */
const SLOW: ReadonlySet<string> = new Set([
  "newcomers-by-close",
  "silent-for-good",
  "recovered-forgotten",
  "join-unsynced",
  "sent-before-written",
  "named-unsynced",
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
  /** Seeds behind the first, up to the last. */
  const keepsEveryPromise = async (first: number, last: number) => {
    const failures: Array<string> = []
    let closedEpochs = 0
    const all = Array.from({ length: last - first }, (_, i) => optionsOf(first + i + 1))
    await crew.run(all, (report) => {
      const options = optionsOf(report.seed)
      if (report.failure === null) closedEpochs += report.epochs - 1
      else failures.push(Replay.failure(options, report))
      // A few traces say more than five hundred.
      return failures.length < 3
    })
    expect(failures.join("\n\n")).toBe("")
    expect(closedEpochs).toBeGreaterThanOrEqual(2 * all.length)
  }

  it(
    `keeps every promise through ${USUAL_SEEDS} seeds of mixed faults`,
    () => keepsEveryPromise(0, USUAL_SEEDS),
    5 * MINUTE,
  )

  it(
    Rest.of("more seeds", `keeps every promise through the seeds up to ${SEEDS}`),
    () => keepsEveryPromise(USUAL_SEEDS, SEEDS),
    60 * MINUTE,
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

  it("lives the same life again when given the same seed", () => livesTheSameLife([1]), 5 * MINUTE)
  it(
    Rest.of("more seeds", "lives the same life again when given the same seed, and another with another"),
    () => livesTheSameLife([1, 50]),
    5 * MINUTE,
  )

  const upgrades = async (seeds: ReadonlyArray<number>) => {
    const options = seeds.map((seed) => ({ ...optionsOf(seed), upgrades: true }))
    const reports = [...(await reportsOf(crew, options)).values()].flat()
    expect(reports.map(({ failure }) => failure?.message ?? null)).toEqual(seeds.map(() => null))
    expect(reports.filter(({ protocolVersion }) => protocolVersion === 3).length).toBeGreaterThan(seeds.length / 2)
  }

  it("goes over to the next version of the protocol through mixed faults", () => upgrades([1]), 5 * MINUTE)
  it(
    Rest.of("more seeds", "goes over to the next version of the protocol through more of them"),
    () => upgrades(Array.from({ length: 20 }, (_, i) => i + 2)),
    30 * MINUTE,
  )

  const settlesOthers = async (seed: number, sizes: ReadonlyArray<number>) => {
    const options = sizes.map((nodes, i) => optionsOf(1_000 * i + seed, nodes, 90))
    const reports = [...(await reportsOf(crew, options)).values()].flat()
    expect(reports.map(({ failure }) => failure)).toEqual(options.map(() => null))
  }

  it("settles one and four validators as well", () => settlesOthers(1, [1, 4]), 5 * MINUTE)
  const MORE = Rest.of("more seeds and validators", "settles one to thirteen validators with other seeds")
  it(
    MORE,
    async () => {
      await settlesOthers(1, [1, 4, 10])
      await settlesOthers(2, [1, 4, 10, 13])
    },
    10 * MINUTE,
  )
})

describe("a planted fault", () => {
  it("is one of at least eleven, each with a name of its own", () => {
    expect(new Set(Planted.faults.map(({ name }) => name)).size).toBe(Planted.faults.length)
    expect(Planted.faults.length).toBeGreaterThanOrEqual(11)
  })
})

// All are in one program, and its thread plants one of them for a run: a thread for each would take seconds to become fast.
describe("of the faults in a program with all of them", () => {
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

  // Mostly by its first seed.
  describe("each is found", () => {
    const find = async ({ name, seed, nodes, rounds, weather, upgrades = false }: Planted.Fault): Promise<void> => {
      const seeds = [seed, ...Array.from({ length: SEEDS_TO_FIND_A_FAULT }, (_, i) => i + 1)]
      let isFound = false
      await planting.run(
        seeds.map((seed) => ({ ...optionsOf(seed, nodes, rounds, weather), upgrades })),
        ({ failure }) => {
          isFound ||= failure !== null
          return !isFound
        },
        name,
      )
      expect(isFound).toBe(true)
    }

    const casesOf = (isSlow: boolean) =>
      Planted.faults.filter(({ name }) => SLOW.has(name) === isSlow).map((fault) => [fault.story, fault] as const)
    it.each(casesOf(false))("%s", { timeout: 10 * MINUTE }, (_, fault) => find(fault))
    it.each(casesOf(true))(Rest.of("a long life", "%s"), { timeout: 10 * MINUTE }, (_, fault) => find(fault))
  })

  it(
    "and while none is chosen, its thread lives as the true program does",
    async () => {
      const lifeOf = async (crew: Sweep.Crew) => (await reportsOf(crew, [optionsOf(1, 4, 90)])).get(1)
      const expected = await lifeOf(crew)
      expect(expected).toMatchObject([{ failure: null }])
      expect(await lifeOf(planting)).toEqual(expected)
    },
    5 * MINUTE,
  )
})
