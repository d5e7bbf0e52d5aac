import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { named } from "../histories/Planted.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import * as Program from "./Program.js"

const SECONDS = 8
/** `npm run histories -- --virtual --plant all` takes them all. */
const CHOSEN = ["event-twice", "gap-in-lookups"]

describe(Rest.of("whole nodes on virtual time, six runs", "whole nodes on virtual time"), () => {
  const planted = CHOSEN.flatMap((name) => named(name) ?? [])
  let program: Program.Program
  const folder = TemporaryFolder.forTests("virtual")

  beforeAll(async () => {
    program = await Program.make(planted)
  })
  afterAll(() => program.remove())

  const run = async (seed: number, weather?: ReadonlyArray<string>, fault = named("")) => {
    const file = join(folder, "history.jsonl")
    const struck: Array<string> = []
    const verdict = await program.run(
      { seed, seconds: SECONDS, weather, file, say: (text) => struck.push(text) },
      fault,
    )
    return { ...verdict, struck, history: readFileSync(file, "utf8") }
  }

  it("keep everything they told clients", async () => {
    const { violations, transactions, struck } = await run(1)
    expect(violations).toEqual([])
    expect(transactions).toBeGreaterThan(0)
    expect(struck.length).toBeGreaterThan(0)
  })

  it("do the same again with the same seed, and something else with another one", async () => {
    const weather = ["kill", "slow threads"]
    const [one, again, other] = [await run(2, weather), await run(2, weather), await run(3, weather)]
    expect(again.history === one.history).toBe(true)
    expect(other.history === one.history).toBe(false)
  })

  it.each(planted)("show a planted fault: $name", async (fault) => {
    const { violations } = await run(1, fault.weather ?? [], fault)
    expect(violations.map(({ rule }) => rule)).toContain(fault.rule)
  })
})
