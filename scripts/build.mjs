// `npm run build`: modules and types by tsc into dist/, then the program itself as one bundle, because loading Effect
// module by module costs more than half a second at every start. With --if-stale, only when a source is newer than dist/.
import { spawnSync } from "node:child_process"
import { readdirSync, rmSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { build } from "esbuild"

const root = resolve(import.meta.dirname, "..")
const bundle = join(root, "dist/main.js")

const newest = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((latest, entry) => Math.max(latest, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0)

const isFresh = () => {
  const built = statSync(bundle, { throwIfNoEntry: false })
  if (built === undefined) return false
  const inputs = ["package.json", "tsconfig.json", "tsconfig.build.json", "scripts/build.mjs"]
  return (
    built.mtimeMs > Math.max(newest(join(root, "src")), ...inputs.map((file) => statSync(join(root, file)).mtimeMs))
  )
}

if (process.argv.includes("--if-stale") && isFresh()) process.exit(0)

rmSync(join(root, "dist"), { recursive: true, force: true })
const types = spawnSync("tsc", ["-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" })
if (types.status !== 0) process.exit(types.status ?? 1)

await build({
  absWorkingDir: root,
  entryPoints: ["src/main.ts"],
  outfile: bundle,
  allowOverwrite: true,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  conditions: ["udg-source"],
  sourcemap: true,
  // Native code cannot be bundled; the banner gives bundled CommonJS packages the `require` they expect.
  external: ["sodium-native", "better-sqlite3"],
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
})
