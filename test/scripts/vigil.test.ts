import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Record from "../../scripts/vigil/Record.js"
import * as Vigil from "../../scripts/vigil/Vigil.js"
import type { Watch } from "../../scripts/vigil/Watches.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

const root = resolve(import.meta.dirname, "../..")

const watch = (name: string, program: (seed: number) => string): Watch => ({
  ...{ name, amount: 10, unit: "seeds" },
  command: (seed) => [process.execPath, "-e", program(seed)],
})

describe("a vigil", () => {
  it("runs watches in turn, goes on with the next seeds, and keeps the command that failed", async () => {
    const folder = TemporaryFolder.forTest("vigil")
    const ended = new AbortController()
    const said: Array<string> = []
    const say = (text: string): void => {
      said.push(text)
      if (said.length === 6) ended.abort()
    }
    const watches = [
      watch("good", () => "setTimeout(() => {}, 700)"),
      watch("bad", (seed) => `setTimeout(() => process.exit(${seed === 1 ? 3 : 0}), 700)`),
    ]
    const page = join(folder, "page.md")
    await Vigil.run({ root, folder, page, watches, seconds: 60, say, ended: ended.signal })
    const { next, totals, failures } = Record.read(folder)
    expect(said).toHaveLength(6)
    expect((next["good"] ?? 0) + (next["bad"] ?? 0)).toBe(6)
    expect(next["bad"]).toBeGreaterThan(1)
    expect(totals.map(({ amount }) => amount).sort()).toEqual([next["bad"], next["good"]].map((n = 0) => n * 10).sort())
    expect(failures.map(({ watch, command }) => [watch, command.at(-1)])).toEqual([
      ["bad", "setTimeout(() => process.exit(3), 700)"],
    ])
    expect(readFileSync(page, "utf8")).toMatch(/; bad \d+ seeds, 1 failed|: bad \d+ seeds, 1 failed/)
  })

  it("loses nothing that was over when it is killed, and repeats what was cut off", async () => {
    const folder = TemporaryFolder.forTest("vigil")
    const wish = `{ root: ${JSON.stringify(root)}, folder: ${JSON.stringify(folder)}, page: ${JSON.stringify(join(folder, "page.md"))},
      watches: [{ name: "slow", amount: 1, unit: "seeds", command: () => [process.execPath, "-e", "setTimeout(() => {}, 100)"] }],
      seconds: 60, say: () => {}, ended: new AbortController().signal }`
    const program = `import("${join(root, "scripts/vigil/Vigil.ts")}").then(({ run }) => run(${wish}))`
    const children: Array<ChildProcess> = []
    onTestFinished(() => children.forEach((child) => void child.kill("SIGKILL")))
    let seen = 0
    for (let life = 0; life < 3; life++) {
      const child = spawn(process.execPath, ["--import", "tsx", "-e", program], { cwd: root, stdio: "inherit" })
      children.push(child)
      const before = seen
      while ((Record.read(folder).next["slow"] ?? 0) < before + 2) await sleep(20)
      child.kill("SIGKILL")
      await once(child, "exit")
      const { next, totals } = Record.read(folder)
      seen = next["slow"] ?? 0
      expect(totals.map(({ amount }) => amount)).toEqual([seen])
    }
    expect(seen).toBeGreaterThanOrEqual(6)
    expect(existsSync(join(folder, "page.md"))).toBe(true)
  })

  it("has its record on the page", () => {
    const contents = Record.read(join(root, "test/vigil"))
    expect(readFileSync(join(root, "docs/vigil.md"), "utf8")).toBe(Record.page(contents))
  })

  // One case for all, which is there while no run has failed: a file of the rest must have one.
  it(Rest.of("as long as the runs that failed", "passes what has failed before"), async () => {
    for (const { watch, commit, command, environment } of Record.read(join(root, "test/vigil")).failures) {
      const child = Vigil.start(root, command, environment)
      onTestFinished(() => void child.kill())
      const [code]: ReadonlyArray<number | null> = await once(child, "exit")
      expect(code, `${watch} on ${commit}: ${command.join(" ")}`).toBe(0)
    }
  })
})
