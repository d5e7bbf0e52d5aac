// `npm run fixture:release -- [COMMIT]`: keeps the program of a commit, by default of the current one, for tests of
// later versions beside it: test/fixtures/releases/DATE-VERSION-COMMIT.json.br, its minified parts and its versions in one
// compressed file. Packages with native code come from node_modules.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { brotliCompressSync, constants } from "node:zlib"
import { build } from "esbuild"

const root = resolve(import.meta.dirname, "..")
const folder = join(root, "test/fixtures/releases")

const git = (...words) => execFileSync("git", words, { cwd: root, maxBuffer: 1 << 28 })

const commit = git("rev-parse", process.argv[2] ?? "HEAD")
  .toString()
  .trim()
const work = mkdtempSync(join(tmpdir(), "udg-fixture-"))
const built = join(work, "fixture/dist")
try {
  execFileSync("tar", ["-x", "-C", work], { input: git("archive", commit) })
  // Its own packages, and the present ones with native code, as in the tests.
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund"]
  execFileSync("npm", ["ci", ...quiet], { cwd: work, stdio: ["ignore", "ignore", "inherit"] })
  mkdirSync(built, { recursive: true })
  symlinkSync(join(root, "node_modules"), join(work, "fixture/node_modules"))
  await build({ absWorkingDir: work, entryPoints: ["src/Threads.ts"], outfile: "threads.mjs", format: "esm" })
  const { PROGRAMS } = await import(pathToFileURL(join(work, "threads.mjs")).href)
  await build({
    absWorkingDir: work,
    entryPoints: ["main", ...PROGRAMS].map((name) => ({ in: `src/${name}.ts`, out: name })),
    outdir: built,
    splitting: true,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    conditions: ["udg-source"],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    alias: { "#threads": "./src/Threads.ts" },
    external: ["sodium-native", "better-sqlite3", "pg-native", "cloudflare:sockets"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  })
  const { version } = JSON.parse(readFileSync(join(work, "package.json"), "utf8"))
  const manifest = JSON.stringify({ type: "module", version })
  writeFileSync(join(work, "fixture/package.json"), manifest)
  const versions = JSON.parse(execFileSync(process.execPath, [join(built, "main.js"), "--version", "--json"]))
  const names = readdirSync(built, { recursive: true }).filter((name) => name.endsWith(".js"))
  const parts = names.map((name) => [`dist/${name}`, readFileSync(join(built, name), "utf8")])
  const files = Object.fromEntries([["package.json", manifest], ...parts])
  const bytes = Buffer.from(JSON.stringify({ commit, versions, files }))
  const compressed = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  })
  mkdirSync(folder, { recursive: true })
  const date = git("show", "-s", "--format=%cs", commit).toString().trim()
  const file = join(folder, `${date}-${version}-${commit.slice(0, 8)}.json.br`)
  writeFileSync(file, compressed)
  console.log(`${file}: ${compressed.length} of ${bytes.length} bytes, ${JSON.stringify(versions)}`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
