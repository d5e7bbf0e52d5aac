import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

const root = resolve(import.meta.dirname, "../..")

const forbidden = {
  clock: "export const it = () => Date.now()",
  "clock taken along": "export const it = Date.now",
  "clock taken apart": "export const { now } = Date",
  "clock by its name": 'export const it = () => Date["now"]()',
  "date as text": "export const it = () => Date()",
  "date of now": "export const it = () => new Date()",
  "date of a number": "export const it = (ms: number) => new Date(ms)",
  "date of a text": "export const it = (text: string) => Date.parse(text)",
  "date of the world": "export const it = () => new globalThis.Date()",
  "date of self": "export const it = () => new self.Date()",
  "date of the window": "export const it = () => new window.Date()",
  "performance clock": "export const it = () => performance.now()",
  "performance of the world": "export const it = () => globalThis.performance.now()",
  "process clock": "export const it = () => process.hrtime()",
  environment: "export const it = process.env",
  timeout: "export const it = () => setTimeout(use, 1)",
  interval: "export const it = () => setInterval(use, 1)",
  immediate: "export const it = () => setImmediate(use)",
  request: 'export const it = () => fetch("/")',
  "garbage collector": "export const it = (a: object) => new WeakRef(a)",
  "effect's clock": 'export { Clock as it } from "effect"',
  "effect's dates": 'export { DateTime as it } from "effect"',
  "effect's chance": 'import { Random } from "effect"\nexport const it = Random.next',
  "effect's runtime": 'import { Effect } from "effect"\nexport const it = Effect.runSync',
  "effect under another name": 'import { Clock as Either } from "effect"\nexport const it = Either',
  "effect as a whole": 'import * as All from "effect"\nexport const it = All.Clock',
  "effect handed on": 'export * from "effect"',
  chance: "export const it = () => Math.random()",
  "chance by its name": 'export const it = () => Math["random"]()',
  "chance taken apart": "export const { random } = Math",
  "chance taken along": "export const it = { Math }",
  "random bytes": 'import { randomBytes } from "#crypto"\nexport const it = randomBytes(8)',
  "random bytes of the whole": 'import * as Crypto from "#crypto"\nexport const it = Crypto.sha256',
  "random bytes of the web": "export const it = () => crypto.getRandomValues(new Uint8Array(8))",
  "random id": "export const it = () => crypto.randomUUID()",
  "random key": 'import * as Keys from "../protocol/Keys.js"\nexport const it = Keys.SecretKey.generate()',
  "rounded sine": "export const it = Math.sin(1)",
  "rounded exponential": "export const it = Math.exp(2)",
  "rounded power": "export const it = Math.pow(10, -1)",
  "rounded among exact": "export const it = Math.max(1, Math.exp(2))",
  "power of ten": "export const it = 10 ** -1",
  "power in place": "export const it = (a: number) => { let c = a; c **= 2; return c }",
  fraction: "export const it = 7 * 0.1",
  "fraction without a digit before": "export const it = 7 * .1",
  "fraction by exponent": "export const it = 7e-1",
  "fraction of a text": 'export const it = parseFloat("0.1")',
  "fraction of a text by Number": 'export const it = Number.parseFloat("0.1")',
  division: "export const it = (a: number, b: number) => a / b",
  "division in place": "export const it = (a: number, b: number) => { let c = a; c /= b; return c }",
  "key order": "export const it = (a: object) => Object.keys(a)",
  "key order by its name": 'export const it = (a: object) => Object["keys"](a)',
  "key order taken apart": "export const { keys } = Object",
  "value order": "export const it = (a: object) => Object.values(a)",
  "entry order": "export const it = (a: object) => Object.entries(a)",
  "own keys": "export const it = (a: object) => Reflect.ownKeys(a)",
  "property names": "export const it = (a: object) => Object.getOwnPropertyNames(a)",
  "property descriptors": "export const it = (a: object) => Object.getOwnPropertyDescriptors(a)",
  "for in": "export const it = (a: object) => { for (const key in a) use(key) }",
  "locale compare": "export const it = (a: string, b: string) => a.localeCompare(b)",
  "locale compare of a locale": "export const it = (a: string, b: string) => a.localeCompare(b, 'en')",
  "locale compare if any": "export const it = (a?: string) => a?.localeCompare('b')",
  "locale compare by its name": 'export const it = (a: string) => a["localeCompare"]("b")',
  "locale compare taken apart": 'export const { localeCompare } = "a"',
  "locale string": "export const it = (a: number) => a.toLocaleString()",
  "locale string of a locale": "export const it = (a: number) => a.toLocaleString('en')",
  "locale date": "export const it = (a: { toLocaleDateString(): string }) => a.toLocaleDateString()",
  "locale case": "export const it = (a: string) => a.toLocaleLowerCase()",
  intl: "export const it = new Intl.NumberFormat()",
}

const allowed = {
  "exact numbers": "export const it = (a: number, b: number) => a * b + (a % b) - Math.floor(a)",
  "powers of two": "export const it = (a: number) => a * 2 ** -32 + 2 ** 21 + 0xee + 1_000",
  "exact Math taken along": "export const it = (a: ReadonlyArray<number>) => a.map(Math.trunc)",
  maps: "export const it = (a: ReadonlyMap<string, number>) => [...a.keys()].sort()",
  "for of": "export const it = (a: Iterable<string>) => { for (const key of a) use(key) }",
  "what computes of Effect": 'import { Either, Option } from "effect"\nexport const it = [Either.void, Option.none()]',
  "what computes of crypto": 'import { toHex } from "#crypto"\nexport const it = toHex(new Uint8Array(1))',
}

const pureFile = (name: string) => `src/ledger/${name.replaceAll(/[^a-zA-Z]+/g, "-")}.ts`

const BUFFER = "export const it = Buffer.alloc(1)"
const ENVIRONMENT = "export const it = process.env"
const ENVIRONMENT_OF_EFFECT = 'import { Config } from "effect"\nexport const it = Config.string("HOME")'

/** What the code of a folder can use: file, content, and whether it passes. */
const world: ReadonlyArray<readonly [path: string, code: string, passes: boolean]> = [
  ["src/node/Clock.ts", forbidden.clock, true],
  ["src/node/Environment.ts", ENVIRONMENT, false],
  ["src/node/World.ts", "export const it = globalThis.process.env", false],
  ["src/node/Require.ts", 'export const it = require("../cli/Udg.js")', false],
  ["src/node/Config.ts", ENVIRONMENT_OF_EFFECT, false],
  ["src/storage/Environment.ts", ENVIRONMENT, false],
  ["src/rpc/Environment.ts", ENVIRONMENT, false],
  ["src/cli/Environment.ts", ENVIRONMENT, true],
  ["src/cli/Config.ts", ENVIRONMENT_OF_EFFECT, true],
  ["src/main.ts", ENVIRONMENT, true],
  ["src/protocol/Buffer.ts", BUFFER, false],
  ["src/ledger/Buffer.ts", BUFFER, false],
  ["src/consensus/Buffer.ts", BUFFER, false],
  ["src/client/Buffer.ts", BUFFER, false],
  ["src/client/Environment.ts", ENVIRONMENT, false],
  ["src/explorer/Buffer.ts", BUFFER, false],
  ["src/rpc/api/Core.ts", BUFFER, false],
  ["src/rpc/handlers/Core.ts", BUFFER, true],
  ["src/protocol/crypto/Portable.ts", BUFFER, false],
  ["src/protocol/crypto/Native.ts", BUFFER, true],
  ["src/protocol/crypto/Clock.ts", forbidden.clock, false],
  ["src/protocol/numbers/Sats.ts", forbidden.division, true],
  ["src/protocol/Clock.ts", forbidden.clock, false],
  ["src/consensus/Clock.ts", forbidden.clock, false],
  ["src/consensus/Division.ts", forbidden.division, false],
  ["src/replica/Clock.ts", forbidden.clock, false],
  ["src/collections/Clock.ts", forbidden.clock, false],
  ["src/effect3/schema/Clock.ts", forbidden.clock, false],
  ["src/effect3/schema/Ast.ts", 'export { SchemaAST } from "effect"', true],
  ["src/effect3/http/Buffer.ts", BUFFER, false],
  ["src/protocol/Ast.ts", 'export { SchemaAST } from "effect"', false],
]

/** All files below `src/` where a comment disables a lint rule, with the rule. New ones must be listed here. */
const exceptions = [
  "src/effect3/schema/CompiledSchema.ts lint/plugin",
  "src/effect3/schema/CompiledSchema.ts lint/plugin",
  "src/protocol/identity/Keys.ts lint/style/noRestrictedImports",
  "src/protocol/transaction/TransactionJson.ts lint/plugin",
]

const pureFolders = ["src/collections", "src/effect3", "src/protocol", "src/ledger", "src/consensus", "src/replica"]

const suppressionsBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) =>
      [...readFileSync(join(root, folder, path), "utf8").matchAll(/biome-ignore[\w-]* ([\w/]+)/g)].map(
        (match) => `${folder}/${path} ${match[1]}`,
      ),
    )

/**
 * Runs Biome with this repository's configuration on a tree with one construct per file. Returns the files with
 * complaints.
 */
const complainedOf = (tree: string): ReadonlySet<string> => {
  const biome = join(root, "node_modules/.bin/biome")
  const { stdout } = spawnSync(biome, ["lint", "--reporter=github", "--max-diagnostics=none", "."], {
    cwd: tree,
    encoding: "utf8",
  })
  const complaints = stdout.matchAll(
    /::error title=(?:plugin|lint\/style\/noRestricted\w+),file=.*?(src\/[^,]+),.*::(.*)/g,
  )
  return new Set(
    [...complaints].map(([line, path, message]) => {
      if (path === undefined || message?.includes("errored")) throw new Error(`the rule itself is broken: ${line}`)
      return path
    }),
  )
}

describe("what a folder can use of the language and the platform", () => {
  const tree = TemporaryFolder.forTests("determinism")
  let found: ReadonlySet<string> = new Set()

  beforeAll(() => {
    const files = [
      ...Object.entries({ ...forbidden, ...allowed }).map(([name, code]) => [pureFile(name), code] as const),
      ...world,
    ]
    mkdirSync(join(tree, "scripts"))
    const configuration = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"))
    writeFileSync(join(tree, "biome.json"), JSON.stringify({ ...configuration, vcs: { enabled: false } }))
    copyFileSync(join(root, "scripts/determinism.grit"), join(tree, "scripts/determinism.grit"))
    for (const [path, code] of files) {
      mkdirSync(dirname(join(tree, path)), { recursive: true })
      writeFileSync(join(tree, path), `${code}\n`)
    }
    found = complainedOf(tree)
  })

  it.each(Object.keys(forbidden))("forbids %s", (name) => {
    expect([...found]).toContain(pureFile(name))
  })

  it.each(Object.keys(allowed))("allows %s", (name) => {
    expect([...found]).not.toContain(pureFile(name))
  })

  it.each(world)("%s with %j passes: %s", (path, _code, passes) => {
    expect(!found.has(path)).toBe(passes)
  })

  it("has only the known exceptions", () => {
    expect(pureFolders.flatMap(suppressionsBelow).sort()).toEqual(exceptions)
  })
})
