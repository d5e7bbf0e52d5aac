// `npm run build`: builds modules and types with tsc into dist/, the program as a bundle in parts, and the explorer
// with Vite into dist/explorer. Loading Effect module by module would add more than half a second to every start, and
// parts that a command does not need another quarter. With --if-stale, builds only if a source is newer than dist/.
import { spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "esbuild"
import { build as buildPage } from "vite"
import { importable } from "./importable.mjs"
import { buildProgram } from "./program.mjs"

const root = resolve(import.meta.dirname, "..")
const bundle = join(root, "dist/main.js")

const newest = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((latest, entry) => Math.max(latest, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0)

const isFresh = () => {
  const built = statSync(bundle, { throwIfNoEntry: false })
  if (built === undefined) return false
  const inputs = ["package.json", "tsconfig.json", "tsconfig.build.json", "vite.config.ts"]
  const scripts = ["build", "importable", "program"].map((name) => `scripts/${name}.mjs`)
  return (
    built.mtimeMs >
    Math.max(newest(join(root, "src")), ...[...inputs, ...scripts].map((file) => statSync(join(root, file)).mtimeMs))
  )
}

if (process.argv.includes("--if-stale") && isFresh()) process.exit(0)

const began = performance.now()
const say = (text) => process.stderr.write(`${text}\n`)

/** The progress: a line that is renewed every second on a terminal, nothing elsewhere. */
const left = new Set(["types", "explorer", "program", "client"])
const CLEAR = "\r\u001b[K"
const draw = () => {
  const seconds = Math.round((performance.now() - began) / 1000)
  process.stderr.write(`${CLEAR}${seconds} s, still to do: ${[...left].join(", ")}`)
}
const isWatched = process.stderr.isTTY === true && process.env.TERM !== "dumb"
const drawing = isWatched ? setInterval(draw, 1_000) : undefined
const clear = () => {
  clearInterval(drawing)
  if (isWatched) process.stderr.write(CLEAR)
}
process.on("exit", clear)

say("building the program and the explorer's page; it can take half a minute …")

// Built beside dist/ and swapped in at the end: a failed build keeps the last good one, and a running program its
// files.
const next = mkdtempSync(join(root, ".build-"))
process.on("exit", () => rmSync(next, { recursive: true, force: true }))

const types = new Promise((resolve, reject) => {
  const compiler = join(root, "node_modules/.bin/tsc")
  const running = spawn(compiler, ["-p", "tsconfig.build.json", "--outDir", next], { cwd: root, stdio: "inherit" })
  running.on("error", reject)
  running.on("close", (status) => resolve(status ?? 1))
})

const page = buildPage({
  configFile: join(root, "vite.config.ts"),
  logLevel: "warn",
  build: { outDir: join(next, "explorer"), emptyOutDir: true },
})

const [status] = await Promise.all([
  types.finally(() => left.delete("types")),
  page.finally(() => left.delete("explorer")),
])
if (status !== 0) process.exit(status)

const { PROGRAMS } = await import(pathToFileURL(join(next, "Threads.js")).href)

await buildProgram(next, PROGRAMS)

left.delete("program")

// Client and wallet replace their modules without schemas and native code, so that importing them loads three files
// instead of hundreds, and one set of classes. See docs/decisions/client.md.
await build({
  absWorkingDir: root,
  entryPoints: ["Client", "Wallet", "Package"].map((name) => `src/client/${name}.ts`),
  outdir: join(next, "client"),
  chunkNames: "shared-[hash]",
  splitting: true,
  allowOverwrite: true,
  bundle: true,
  platform: "browser",
  target: "es2022",
  format: "esm",
  conditions: ["udg-source"],
  alias: { "#crypto": "./src/protocol/crypto/Portable.ts" },
  sourcemap: true,
  logLevel: "warning",
})

// The program's parts are at the top, the page in its folder. Of all other files, only importable ones stay.
const kept = importable(next, JSON.parse(readFileSync(join(root, "package.json"), "utf8")), PROGRAMS)
for (const entry of readdirSync(next, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name)
  const isOther = dirname(file) !== next && !file.startsWith(join(next, "explorer/"))
  if (entry.isFile() && isOther && !kept.has(file.replace(/\.map$/, ""))) rmSync(file)
}

// The program is also the package's `bin`.
chmodSync(join(next, "main.js"), 0o755)
chmodSync(next, 0o755)
const dist = join(root, "dist")
if (existsSync(dist)) renameSync(dist, join(next, "previous"))
renameSync(next, dist)
rmSync(join(dist, "previous"), { recursive: true, force: true })
clear()
say(`built in ${Math.round((performance.now() - began) / 1000)} s`)
