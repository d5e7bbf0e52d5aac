import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import { run } from "./Run.js"
import * as World from "./World.js"

it(
  Rest.of("four validators under faults", "four validators under faults keep everything they told clients"),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "udg-history-"))
    const wish = { seed: 1, seconds: 20, file: join(folder, "history.jsonl") }
    const struck: Array<string> = []
    const { transactions, violations } = await run(
      { ...wish, say: (text) => struck.push(text) },
      World.place({ hasGateways: false }),
    )
    expect(violations).toEqual([])
    expect(transactions).toBeGreaterThan(0)
    expect(struck.length).toBeGreaterThan(0)
    // Kept after a failure, to be judged again.
    rmSync(folder, { recursive: true })
  },
)
