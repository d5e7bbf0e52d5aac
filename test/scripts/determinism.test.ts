import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

const forbidden = {
  clock: "export const it = () => Date.now()",
  "clock taken along": "export const it = Date.now",
  date: "export const it = () => new Date()",
  "date of a number": "export const it = (ms: number) => new Date(ms)",
  "performance clock": "export const it = () => performance.now()",
  chance: "export const it = () => Math.random()",
  "random bytes": "export const it = () => crypto.getRandomValues(new Uint8Array(8))",
  "random id": "export const it = () => crypto.randomUUID()",
  "key order": "export const it = (a: object) => Object.keys(a)",
  "value order": "export const it = (a: object) => Object.values(a)",
  "entry order": "export const it = (a: object) => Object.entries(a)",
  "for in": "export const it = (a: object) => { for (const key in a) use(key) }",
  "locale compare": "export const it = (a: string, b: string) => a.localeCompare(b)",
  "locale compare of a locale": "export const it = (a: string, b: string) => a.localeCompare(b, 'en')",
  "locale string": "export const it = (a: number) => a.toLocaleString()",
  "locale string of a locale": "export const it = (a: number) => a.toLocaleString('en')",
  "locale case": "export const it = (a: string) => a.toLocaleLowerCase()",
  intl: "export const it = new Intl.NumberFormat()",
  division: "export const it = (a: number, b: number) => a / b",
  "division in place": "export const it = (a: number, b: number) => { let c = a; c /= b; return c }",
}

const allowed = {
  "exact numbers": "export const it = (a: number, b: number) => a * b + (a % b) - Math.floor(a)",
  maps: "export const it = (a: ReadonlyMap<string, number>) => [...a.keys()].sort()",
  "for of": "export const it = (a: Iterable<string>) => { for (const key of a) use(key) }",
}

const fileOf = (name: string) => `src/ledger/${name.replaceAll(" ", "-")}.ts`

/** Biome's own configuration of this repository on a tree with one construct a file; gives the files it complains of. */
const complainedOf = (tree: string): ReadonlySet<string> => {
  const biome = join(root, "node_modules/.bin/biome")
  const { stdout } = spawnSync(biome, ["lint", "--reporter=github", "--max-diagnostics=none", "."], {
    cwd: tree,
    encoding: "utf8",
  })
  const lines = stdout.split("\n").filter((line) => line.includes("Not deterministic"))
  return new Set(lines.map((line) => /file=.*?(src\/[^,]+)/.exec(line)?.[1] ?? line))
}

describe("the determinism rule", () => {
  let tree = ""
  let found: ReadonlySet<string> = new Set()

  beforeAll(() => {
    tree = mkdtempSync(join(tmpdir(), "udg-determinism-"))
    for (const folder of ["scripts", "src/ledger", "src/node"]) mkdirSync(join(tree, folder), { recursive: true })
    const configuration = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"))
    writeFileSync(join(tree, "biome.json"), JSON.stringify({ ...configuration, vcs: { enabled: false } }))
    copyFileSync(join(root, "scripts/determinism.grit"), join(tree, "scripts/determinism.grit"))
    for (const [name, code] of Object.entries({ ...forbidden, ...allowed }))
      writeFileSync(join(tree, fileOf(name)), `${code}\n`)
    writeFileSync(join(tree, "src/node/Clock.ts"), `${forbidden.clock}\n`)
    found = complainedOf(tree)
  })
  afterAll(() => rmSync(tree, { recursive: true }))

  it.each(Object.keys(forbidden))("forbids %s", (name) => {
    expect([...found]).toContain(fileOf(name))
  })

  it.each(Object.keys(allowed))("allows %s", (name) => {
    expect([...found]).not.toContain(fileOf(name))
  })

  it("leaves alone the folders that touch the world", () => {
    expect([...found]).not.toContain("src/node/Clock.ts")
  })
})
