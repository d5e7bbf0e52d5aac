// Generates docs/performance.md from the last measurements. With --check, fails if the page is outdated.
import * as Page from "../bench/Page.js"
import * as Record from "../bench/Record.js"

if (!process.argv.includes("--check")) Page.write(Record.read())
else if (!Page.isTrue(Record.read())) {
  console.error(
    "docs/performance.md is not what bench/results/latest.json says: npx tsx --conditions=udg-source scripts/performance.ts",
  )
  process.exit(1)
}
