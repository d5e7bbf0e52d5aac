import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { beforeAll, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

const root = resolve(import.meta.dirname, "../..")
const urlOf = (path: string): string => pathToFileURL(join(root, path)).href

const files = {
  "src/Program.ts": `
    export const least = (a: number, b: number): number => (a < b ? a : b)
    export const countTo = (end: number): number => {
      let count = 0
      for (let i = 0; i < end; i++) count = i + 1
      return count
    }
    export const countDown = (start: number): number => {
      const step = Number(true)
      let left = start
      while (left > 0) left -= step
      return left
    }
    let known: number | undefined
    export const remembered = (): number => (known ??= 6 * 7)
    export const untested = (a: number): number => a - 1
  `,
  "test/Program.test.ts": `
    import { describe, expect, it } from "vitest"
    import { countDown, countTo, least, remembered } from "../src/Program.js"
    it("remembers", () => expect(remembered()).toBe(42))
    describe("the least", () => {
      it.each([[1, 2], [2, 1]])("of %i and %i", (a, b) => expect(least(a, b)).toBe(1))
    })
    it("counts down", () => expect(countDown(3)).toBe(0))
    it("counts", async () => {
      await Promise.resolve()
      expect(countTo(3)).toBe(3)
    })
  `,
  "judge.mjs": `
    import { judge } from "${urlOf("scripts/mutations/Mutants.ts")}"
    const results = await judge({ mutate: ["src/Program.ts"], tests: ["test/Program.test.ts"], report: "report.json" }, 2_000)
    const judged = results.filter(({ status }) => status !== "Ignored")
    const told = judged.map(({ location, replacement, status }) => [location.start.line + ": " + replacement, status])
    console.log("\\n" + JSON.stringify(Object.fromEntries(told)))
  `,
}

const folder = TemporaryFolder.forTests("mutants")
beforeAll(() => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
})

it(Rest.of("three changes that run into the time limit", "tells changes that a test notices from unnoticed ones"), {
  timeout: 300_000,
}, async () => {
  const words = ["--import", urlOf("node_modules/tsx/dist/loader.mjs"), "judge.mjs"]
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder })
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
    "2: true": "Killed",
    "2: false": "Killed",
    "2: a <= b": "Survived",
    "2: a >= b": "Killed",
    "3: {}": "Killed",
    "5: false": "Killed",
    "5: i <= end": "Killed",
    "5: i >= end": "Killed",
    "5: i--": "Timeout",
    "5: i - 1": "Killed",
    "8: {}": "Killed",
    "9: false": "Timeout",
    "11: false": "Killed",
    "11: left >= 0": "Killed",
    "11: left <= 0": "Killed",
    "11: left += step": "Timeout",
    "15: known &&= 6 * 7": "Killed",
    "15: 6 / 7": "Killed",
    "16: a + 1": "NoCoverage",
  })
})
