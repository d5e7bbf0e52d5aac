// `npm run check`: types, lint and format, layers, places of tests, dead code, top level, lock file, known
// vulnerabilities, client, vectors, figures, left-out tests. Runs all of them, then fails if any failed.
import { spawnSync } from "node:child_process"

const steps = [
  ["types", "tsc", ["--noEmit"]],
  ["lint and format", "biome", ["check", "--error-on-warnings", "."]],
  ["layers", process.execPath, ["scripts/layers.mjs"]],
  ["places of tests", process.execPath, ["scripts/tests.mjs"]],
  ["dead code", "knip", ["--include", "files,exports,types,dependencies,unlisted,unresolved"]],
  ["top level", process.execPath, ["scripts/top-level.mjs"]],
  ["lock file", process.execPath, ["scripts/lock.mjs", "--check"]],
  ["known vulnerabilities", process.execPath, ["scripts/advisories.mjs"]],
  ["client", "tsx", ["--conditions=udg-source", "scripts/client.ts", "--check"]],
  ["vectors", "tsx", ["--conditions=udg-source", "scripts/vectors.ts", "--check"]],
  ["figures", "tsx", ["--conditions=udg-source", "scripts/performance.ts", "--check"]],
  ["left-out tests", "tsx", ["scripts/left-out.ts", "--check"]],
]

const failed = steps.filter(([name, command, args]) => {
  const started = performance.now()
  const { status } = spawnSync(command, args, { stdio: "inherit", shell: false })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`check: ${name} ${status === 0 ? "passed" : "FAILED"} in ${seconds} s`)
  return status !== 0
})

process.exit(failed.length === 0 ? 0 : 1)
