import { readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Bundle from "./Bundle.js"
import * as Planted from "./Planted.js"
import * as Replay from "./Replay.js"
import { optionsOf, type Report } from "./Simulation.js"
import { FAULTS } from "./Storm.js"
import * as Sweep from "./Sweep.js"

const MINUTE = 60_000
/** A second or two of one core each: all five hundred of `npm run test:simulation` take too long for every day. */
const SEEDS = Number(process.env["UDG_SIMULATED_SEEDS"] ?? 150)
const SEEDS_TO_FIND_A_FAULT = 200

const reportsOf = async (crew: Sweep.Crew, options: ReadonlyArray<ReturnType<typeof optionsOf>>) => {
  const reports = new Map<number, Array<Report>>()
  await crew.run(options, (report) => {
    reports.set(report.seed, [...(reports.get(report.seed) ?? []), report])
    return true
  })
  return reports
}

describe("a simulated network", () => {
  let bundle = ""
  let crew: Sweep.Crew

  beforeAll(async () => {
    bundle = await Bundle.make()
    crew = new Sweep.Crew(bundle)
  })

  afterAll(async () => {
    await crew.dismiss()
    await rm(bundle, { force: true })
  })

  it(
    `keeps every promise through ${SEEDS} seeds of mixed faults`,
    async () => {
      const failures: Array<string> = []
      let closedEpochs = 0
      const all = Array.from({ length: SEEDS }, (_, i) => optionsOf(i + 1))
      await crew.run(all, (report) => {
        const options = optionsOf(report.seed)
        if (report.failure === null) closedEpochs += report.epochs - 1
        else failures.push(Replay.failure(options, report))
        // A few traces say more than five hundred.
        return failures.length < 3
      })
      expect(failures.join("\n\n")).toBe("")
      expect(closedEpochs).toBeGreaterThanOrEqual(2 * SEEDS)
    },
    15 * MINUTE,
  )

  it(
    "lives the same life again when given the same seed",
    async () => {
      const seeds = [1, 2, 50]
      const options = seeds.map((seed) => optionsOf(seed, 7, 150, FAULTS))
      const reports = await reportsOf(crew, [...options, ...options])
      for (const seed of seeds) {
        const [first, second] = reports.get(seed) ?? []
        expect(first).toBeDefined()
        expect(second).toEqual(first)
      }
      expect(new Set([...reports.values()].flat().map(({ digest }) => digest)).size).toBe(seeds.length)
    },
    5 * MINUTE,
  )

  it(
    "settles four, ten and unequal validators as well",
    async () => {
      const options = [1, 4, 10, 13].flatMap((nodes, i) => [1, 2].map((seed) => optionsOf(1_000 * i + seed, nodes, 90)))
      const reports = [...(await reportsOf(crew, options)).values()].flat()
      expect(reports.map(({ failure }) => failure)).toEqual(options.map(() => null))
    },
    5 * MINUTE,
  )
})

// Each is mostly found by its first seed, in a thread of its own; so many side by side as there are cores.
describe.concurrent("a planted fault", () => {
  it("is one of at least eleven, each with a name of its own", () => {
    expect(new Set(Planted.faults.map(({ name }) => name)).size).toBe(Planted.faults.length)
    expect(Planted.faults.length).toBeGreaterThanOrEqual(11)
  })

  it("is listed in the documentation with the seed that finds it", () => {
    const page = readFileSync(new URL("../../docs/simulation.md", import.meta.url), "utf8").replaceAll(/ +/g, " ")
    for (const { name, story, seed } of Planted.faults) expect(page).toContain(`| \`${name}\` | ${story} | ${seed}`)
  })

  for (const fault of Planted.faults) {
    it(
      `is found: ${fault.story}`,
      async () => {
        const bundle = await Bundle.make(fault)
        const seeds = [fault.seed, ...Array.from({ length: SEEDS_TO_FIND_A_FAULT }, (_, i) => i + 1)]
        let isFound = false
        try {
          await Sweep.run(
            bundle,
            seeds.map((seed) => optionsOf(seed, fault.nodes, fault.rounds, fault.weather)),
            ({ failure }) => {
              isFound ||= failure !== null
              return !isFound
            },
            1,
          )
        } finally {
          await rm(bundle, { force: true })
        }
        expect(isFound).toBe(true)
      },
      10 * MINUTE,
    )
  }
})
