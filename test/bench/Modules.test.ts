/** A node's profile can be split into parts only if the built program has complete source maps. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, it } from "vitest"
import { Modules } from "../../bench/Modules.js"

const dist = join(import.meta.dirname, "../../dist")

/** The position of this text in the built program. */
const placeOf = (text: string) => {
  for (const file of readdirSync(dist).filter((name) => name.endsWith(".js"))) {
    const lines = readFileSync(join(dist, file), "utf8").split("\n")
    const lineNumber = lines.findIndex((line) => line.includes(text))
    if (lineNumber < 0) continue
    return {
      url: pathToFileURL(join(dist, file)).href,
      lineNumber,
      columnNumber: lines[lineNumber]?.indexOf(text) ?? 0,
    }
  }
  throw new Error(`${text} is not in the program`)
}

it.each([
  ["QuorumProgress=class", "src/consensus/dag/QuorumProgress.ts"],
  ["Linearizer=class", "src/consensus/commit/Linearizer.ts"],
  ["FiberRuntime=class", "node_modules/effect/src/internal/fiberRuntime.ts"],
])("%s is from %s", (text, module) => expect(new Modules().of(placeOf(text))).toBe(module))

it("assigns nothing to Node and the bench, or to a package bundled elsewhere", () => {
  const place = { lineNumber: 0, columnNumber: 0 }
  expect(new Modules().of({ url: "node:internal/timers", ...place })).toBeUndefined()
  const bench = pathToFileURL(join(dist, "../bench/nameThread.mjs")).href
  expect(new Modules().of({ url: bench, ...place })).toBeUndefined()
  const url = pathToFileURL(join(dist, "../node_modules/better-sqlite3/lib/database.js")).href
  expect(new Modules().of({ url, ...place })).toBe("node_modules/better-sqlite3/lib/database.js")
})
