/**
 * Bundles a program from the sources, as they are or with lines replaced as a bad day would have left them. The
 * replacements live in tests, never in `src/`: a bundle puts them in while it reads the source.
 */
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { build, type Plugin } from "esbuild"

const root = resolve(import.meta.dirname, "../..")
/** Below node_modules, so that a bundle finds the packages it imports. */
const folder = join(root, "node_modules/.cache/udg-test")

export interface Change {
  /** Below src/. */
  readonly file: string
  /** Occurs there exactly once. */
  readonly line: string
  readonly by: string
}

const pathOf = (file: string): string => join(root, "src", file)

interface Program {
  /** From the root of the project. */
  readonly entry: string
  /** Below the folder of all bundles. */
  readonly outfile: string
  readonly changes?: ReadonlyArray<Change>
  /** Import every package at run time, not only the native ones: bundles faster, starts slower. */
  readonly arePackagesExternal?: boolean
}

/** A line that is missing, or occurs twice, is an error: a fault that was never planted must not pass for one that was found. */
const changed = (source: string, { file, line, by }: Change): string => {
  const count = source.split(line).length - 1
  if (count !== 1) throw new Error(`src/${file} has this line ${count} times, not once: ${line}`)
  return source.replace(line, () => by)
}

/** A file that the program does not contain is an error for the same reason. */
const planting = (changes: ReadonlyArray<Change>): Plugin => ({
  name: "plant",
  setup: ({ onLoad, onEnd }) => {
    const loaded = new Set<string>()
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      loaded.add(path)
      const here = changes.filter(({ file }) => pathOf(file) === path)
      if (here.length === 0) return undefined
      return { contents: here.reduce(changed, readFileSync(path, "utf8")), loader: "ts" }
    })
    onEnd(() => {
      const missed = changes.filter(({ file }) => !loaded.has(pathOf(file)))
      return { errors: missed.map(({ file }) => ({ text: `the program does not contain src/${file}` })) }
    })
  },
})

/** The path of the bundle. */
export const make = async ({ entry, outfile, changes = [], arePackagesExternal = false }: Program): Promise<string> => {
  const path = join(folder, outfile)
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    conditions: ["udg-source"],
    ...(arePackagesExternal ? { packages: "external" } : { external: ["sodium-native", "better-sqlite3"] }),
    plugins: [planting(changes)],
    // Bundled CommonJS packages call it.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "silent",
  })
  return path
}
