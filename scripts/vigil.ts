// `npm run vigil -- --hours N`: runs seeds, histories, fuzzers and attacks in turn and keeps what failed, in
// test/vigil/record.json and docs/vigil.md. Ctrl-C ends it earlier, and the next one goes on from there.
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import * as Vigil from "./vigil/Vigil.js"
import { watches } from "./vigil/Watches.js"

const { values } = parseArgs({ options: { hours: { type: "string", default: "1" }, only: { type: "string" } } })
const hours = Number(values.hours)
const chosen = watches.filter(({ name }) => values.only === undefined || values.only.split(",").includes(name))
if (!(hours > 0) || chosen.length === 0) {
  process.stderr.write(`npm run vigil -- --hours N [--only ${watches.map(({ name }) => name).join(",")}]\n`)
  process.exit(2)
}

const ended = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ended.abort())

const root = resolve(import.meta.dirname, "..")
const { failures } = await Vigil.run({
  root,
  folder: join(root, "test/vigil"),
  page: join(root, "docs/vigil.md"),
  watches: chosen,
  seconds: hours * 3_600,
  say: (text) => void process.stdout.write(`${text}\n`),
  ended: ended.signal,
})
process.exitCode = failures.length === 0 ? 0 : 1
