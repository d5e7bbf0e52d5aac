import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import { named } from "./Planted.js"
import * as Program from "./Program.js"
import { run } from "./Run.js"

const SECONDS = 15
/** One for events, lookups and statements; `npm run histories -- --plant all` takes them all. */
const CHOSEN = ["event-twice", "gap-in-lookups", "statement-without-fee"]

describe(Rest.of("a network for each fault", "a fault in the shell of every process"), () => {
  let program: Program.Program
  let folder = ""

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "udg-history-"))
    program = await Program.make()
  })
  afterAll(() => {
    program.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(CHOSEN)("shows in the history: %s", async (name) => {
    const fault = named(name)
    const file = join(folder, `${name}.jsonl`)
    const wish = { seed: 1, seconds: SECONDS, file, weather: fault?.weather ?? [], hasGateways: false, say: () => {} }
    const { violations } = await run({ ...wish, executed: program.with(name) })
    expect(violations.map(({ rule }) => rule)).toContain(fault?.rule)
  })
})
