import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { named } from "./Planted.js"
import * as Program from "./Program.js"
import { run } from "./Run.js"
import * as World from "./World.js"

const SECONDS = 15
/** `test/virtual` plants others; `npm run histories -- --plant all` takes them all. */
const CHOSEN = "statement-without-fee"

describe(Rest.of("four processes", "a fault in the shell of every process"), () => {
  let program: Program.Program
  const folder = TemporaryFolder.forTests("history")

  beforeAll(async () => {
    program = await Program.make()
  })
  afterAll(() => program.remove())

  it("shows in the history", async () => {
    const fault = named(CHOSEN)
    const wish = { seed: 1, seconds: SECONDS, file: join(folder, "history.jsonl"), weather: fault?.weather ?? [] }
    const place = World.place({ hasGateways: false, executed: program.with(CHOSEN) })
    const { violations } = await run({ ...wish, say: () => {} }, place)
    expect(violations.map(({ rule }) => rule)).toContain(fault?.rule)
  })
})
