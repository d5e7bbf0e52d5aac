/** Files in docs/vectors are what the code makes; `test/document` reads them with a client that shares no code. */
import { execFileSync } from "node:child_process"
import { resolve } from "node:path"
import { expect, it } from "vitest"

const ROOT = resolve(import.meta.dirname, "../..")

it("the published vectors are those that the code makes, and it refuses the invalid ones", () => {
  const words = ["--import", "tsx", "--conditions=udg-source", "scripts/vectors.ts", "--check"]
  expect(execFileSync(process.execPath, words, { cwd: ROOT, encoding: "utf8" })).toBe("")
})
