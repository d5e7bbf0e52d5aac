/**
 * The same program except for the newest protocol version that it knows. Everything else, including how it treats other
 * programs, is real.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Plugin } from "esbuild"
import { afterAll, beforeAll, expect } from "vitest"
import { buildProgram } from "../../scripts/program.mjs"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import { PROGRAMS } from "../../src/Threads.js"

const root = resolve(import.meta.dirname, "../..")

/** Changed in the source, because the bundler writes a constant's value wherever the constant is used. */
const onlyTheFirst: Plugin = {
  name: "only the first protocol version",
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]ProtocolVersion\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8")
      const contents = text.replace(/^(export const NEWEST\b.*) = \d+$/m, `$1 = ${ProtocolVersion.FIRST}`)
      expect(contents).not.toBe(text)
      return { loader: "ts", contents }
    })
  },
}

/** Makes the program before the tests of a file, and removes it after them. Returns where it is. */
export const forTests = (): (() => string) => {
  let old = ""
  beforeAll(async () => {
    old = mkdtempSync(join(tmpdir(), "udg-old-"))
    cpSync(join(root, "package.json"), join(old, "package.json"))
    cpSync(join(root, "dist/explorer"), join(old, "dist/explorer"), { recursive: true })
    symlinkSync(join(root, "node_modules"), join(old, "node_modules"))
    await buildProgram(join(old, "dist"), PROGRAMS, [onlyTheFirst])
  })
  afterAll(() => rmSync(old, { recursive: true, force: true }))
  return () => join(old, "dist/main.js")
}
