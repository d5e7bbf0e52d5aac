/**
 * Bundles the simulator with the program under test, as it stands or with one fault planted in it. The faults live here
 * and in `Planted.ts`, never in `src/`: a bundle replaces lines of the source while it reads it.
 */
import { mkdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { build, type Plugin } from "esbuild"
import type { Fault } from "./Planted.js"

const root = resolve(import.meta.dirname, "../..")
/** Below node_modules, so that the one native package is found from there. */
const folder = join(root, "node_modules/.cache/udg-simulation")

const countOf = (text: string, part: string): number => text.split(part).length - 1

/** Puts the fault's lines in place of the source's; a line that is no longer there, or is there twice, is an error. */
const planting = (fault: Fault): Plugin => ({
  name: "plant",
  setup: ({ onLoad }) => {
    const planted = new Map(fault.changes.map((change) => [join(root, "src", change.file), change.file]))
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const file = planted.get(path)
      if (file === undefined) return undefined
      let contents = readFileSync(path, "utf8")
      for (const change of fault.changes.filter((each) => each.file === file)) {
        const count = countOf(contents, change.line)
        if (count !== 1) {
          throw new Error(`fault "${fault.name}": src/${file} holds ${count} times, not once: ${change.line}`)
        }
        contents = contents.replace(change.line, () => change.by)
      }
      return { contents, loader: "ts" }
    })
  },
})

/** The path of the bundled worker. */
export const make = async (fault: Fault | null = null): Promise<string> => {
  mkdirSync(folder, { recursive: true })
  const outfile = join(folder, `${fault === null ? "worker" : `planted-${fault.name}`}-${process.pid}.mjs`)
  await build({
    absWorkingDir: root,
    entryPoints: ["test/simulation/worker.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    conditions: ["udg-source"],
    external: ["sodium-native"],
    plugins: fault === null ? [] : [planting(fault)],
    logLevel: "silent",
  })
  return outfile
}
