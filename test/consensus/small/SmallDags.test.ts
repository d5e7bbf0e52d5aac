/** Checks the consensus on every DAG of a few rounds, and that the search can fail. */
import { rmSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Bundle from "../../support/Bundle.js"
import * as Chosen from "../../support/Chosen.js"
import * as Rest from "../../support/Rest.js"
import { type Fault, faults } from "./Faults.js"
import type * as Search from "./Search.js"
import { search } from "./Search.js"

const USUAL_ROUNDS = 4
/** Each further round takes about twenty times as long: docs/simulation.md has the figures. */
const ROUNDS = Number(process.env["UDG_SMALL_DAG_ROUNDS"] ?? 6)
const REASON = "a round more takes ten seconds, two a minute"
const DAY = { timeout: 86_400_000 }

/**
 * The number of DAGs of the first rounds with two vertices of the guilty member, counted independently by sets of
 * parents.
 */
const COUNTED = [23, 125_432, 1_844_185_581]

const keepsAllPromises = async (rounds: number, given: Partial<Search.Bounds> = {}): Promise<void> => {
  const bounds = { rounds, older: 1, copies: 2, closes: false, ...given }
  const { failure, dags, ...counts } = await search(bounds)
  expect(failure).toBeNull()
  if (bounds.copies === 2) expect(dags.slice(0, COUNTED.length)).toEqual(COUNTED)
  const figures = { ...bounds, ...counts, dags: dags[dags.length - 1]?.toPrecision(2) }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

describe("the consensus on every small DAG", DAY, () => {
  const ordered = (rounds: number | string): string =>
    `of ${rounds} rounds, a late vertex changes neither verdict nor order`
  it(ordered(USUAL_ROUNDS), () => keepsAllPromises(USUAL_ROUNDS))
  it.each([ROUNDS - 1, ROUNDS])(Rest.of(REASON, ordered("%i")), (rounds) => keepsAllPromises(rounds))
  it(Rest.of(REASON, `${ordered(ROUNDS - 1)}, with three vertices of a member`), () =>
    keepsAllPromises(ROUNDS - 1, { copies: 3 }),
  )

  // Whole members cost more, and the calm rounds lead to a close from anywhere, so one round less is enough.
  const closed = (rounds: number | string): string =>
    `of ${rounds} rounds, all members close the epoch with the same commit`
  it(closed(USUAL_ROUNDS - 1), () => keepsAllPromises(USUAL_ROUNDS - 1, { closes: true }))
  it.each([ROUNDS - 2, ROUNDS - 1])(Rest.of(REASON, closed("%i")), (rounds) =>
    keepsAllPromises(rounds, { closes: true }),
  )
})

describe("the search for planted faults", DAY, () => {
  let path = ""
  let program: typeof Search

  beforeAll(async () => {
    const outfile = `small/planted-${process.pid}.mjs`
    const planted = { entry: "test/consensus/small/Search.ts", outfile, choice: faults, arePackagesExternal: true }
    path = await Bundle.make(planted)
    program = await import(pathToFileURL(path).href)
  })

  afterAll(() => rmSync(path, { force: true }))

  const finds = async (_: string, { name, rounds, copies = 2, closes }: Fault): Promise<void> => {
    Chosen.choose(name)
    try {
      const { failure } = await program.search({ rounds, older: 0, copies, closes: closes === true })
      expect(failure).not.toBeNull()
    } finally {
      Chosen.choose(undefined)
    }
  }

  const those = (isSmall: boolean) =>
    faults.filter(({ rounds }) => rounds <= USUAL_ROUNDS === isSmall).map((fault) => [fault.name, fault] as const)
  it.each(those(true))("%s", finds)
  it.each(those(false))(Rest.of(REASON, "%s"), finds)

  it("finds nothing in a program without faults", async () => {
    expect((await program.search({ rounds: 2, older: 0, copies: 2, closes: true })).failure).toBeNull()
  })
})
