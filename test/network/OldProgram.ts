/**
 * The same build except for the newest protocol version that it knows. Everything else, including how it treats other
 * programs, is real.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, expect } from "vitest"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"

const root = resolve(import.meta.dirname, "../..")

/** Makes the program before the tests of a file, and removes it after them. Returns where it is. */
export const forTests = (): (() => string) => {
  let old = ""
  beforeAll(() => {
    old = mkdtempSync(join(tmpdir(), "udg-old-"))
    cpSync(join(root, "dist"), join(old, "dist"), { recursive: true })
    cpSync(join(root, "package.json"), join(old, "package.json"))
    symlinkSync(join(root, "node_modules"), join(old, "node_modules"))
    const newest = new RegExp(`(NEWEST\\d*)=${ProtocolVersion.NEWEST}\\b`, "g")
    let replaced = 0
    for (const name of readdirSync(join(old, "dist")).filter((name) => name.endsWith(".js"))) {
      const file = join(old, "dist", name)
      const text = readFileSync(file, "utf8")
      replaced += text.match(newest)?.length ?? 0
      writeFileSync(file, text.replace(newest, `$1=${ProtocolVersion.FIRST}`))
    }
    expect(replaced).toBeGreaterThan(0)
  })
  afterAll(() => rmSync(old, { recursive: true, force: true }))
  return () => join(old, "dist/main.js")
}
