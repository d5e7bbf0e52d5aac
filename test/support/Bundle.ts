/**
 * Bundles a program from the sources, as they are or with lines replaced as a bad day would have left them. The
 * replacements live in tests, never in `src/`: a bundle puts them in while it reads the source.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { PROGRAMS } from "../../src/Threads.js"

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

/** Remembers in `loaded` which sources the program contains. */
const planting = (changes: ReadonlyArray<Change>, loaded: Set<string>): Plugin => ({
  name: "plant",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      loaded.add(path)
      const here = changes.filter(({ file }) => pathOf(file) === path)
      if (here.length === 0) return undefined
      return { contents: here.reduce(changed, readFileSync(path, "utf8")), loader: "ts" }
    })
  },
})

/** The path of the bundle. If it starts threads, their programs lie beside it. */
export const make = async ({ entry, outfile, changes = [], arePackagesExternal = false }: Program): Promise<string> => {
  const path = join(folder, outfile)
  const loaded = new Set<string>()
  const options = {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    conditions: ["udg-source"],
    alias: { "#threads": "./src/Threads.ts" },
    ...(arePackagesExternal ? { packages: "external" } : { external: ["sodium-native", "better-sqlite3"] }),
    plugins: [planting(changes, loaded)],
    // Bundled CommonJS packages call it.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "silent",
    metafile: true,
  } satisfies BuildOptions
  const { metafile } = await build({ ...options, entryPoints: [entry], outfile: path })
  if ("src/Threads.ts" in metafile.inputs) {
    const entryPoints = PROGRAMS.map((program) => `src/${program}.ts`)
    await build({ ...options, entryPoints, outbase: "src", outdir: dirname(path) })
    writeFileSync(join(dirname(path), "package.json"), '{ "type": "module" }\n')
  }
  // A fault in a file that nothing loads was never planted, and must not pass for one that was found.
  const missed = changes.find(({ file }) => !loaded.has(pathOf(file)))
  if (missed !== undefined) throw new Error(`the program does not contain src/${missed.file}`)
  return path
}
