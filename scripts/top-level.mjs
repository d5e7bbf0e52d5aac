// The files and folders of the repository's top level. Fails with every other tracked one: logs, profiles and notes
// tend to end up here.
import { execFileSync } from "node:child_process"

const expected = new Set([
  ...[".ci", "bench", "docs", "ops", "scripts", "src", "test"],
  ...["README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"],
  ...["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json", "vite.config.ts", "biome.json"],
  ...["vitest.config.ts", ".editorconfig", ".gitignore", ".npmrc"],
])

const tracked = execFileSync("git", ["ls-files", "--full-name", ":/"], { cwd: import.meta.dirname, encoding: "utf8" })
const names = new Set(tracked.split("\n").flatMap((path) => (path === "" ? [] : [path.split("/")[0]])))
const strangers = [...names].filter((name) => !expected.has(name))
for (const name of strangers)
  console.error(`top level: ${name} does not belong here; if it does, add it to scripts/top-level.mjs`)
process.exit(strangers.length === 0 ? 0 : 1)
