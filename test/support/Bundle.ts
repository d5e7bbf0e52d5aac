/** Bundles a program from the sources, with or without planted faults. */
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { PROGRAMS } from "../../src/Threads.js"
import { type Fault, plant, plantAll } from "./Planting.js"

const root = resolve(import.meta.dirname, "../..")
/** Below node_modules, so that a bundle finds the packages it imports. */
const folder = join(root, "node_modules/.cache/udg-test")

export type Plant = (file: string, source: string) => string | undefined

interface Program {
  /** Relative to the project's root. */
  readonly entry: string
  /** Relative to the folder of all bundles. */
  readonly outfile: string
  readonly fault?: Fault | null
  /** Faults of which the running program activates at most one, with `Chosen.ts`. */
  readonly choice?: ReadonlyArray<Fault>
  /** Replaces a source, by its path from the root; undefined keeps it. */
  readonly rewrite?: Plant
  /** Makes thread programs texts that a function can run, instead of modules. */
  readonly areThreadsTexts?: boolean
  /** Imports every package at run time, not only the native ones: bundles faster, starts slower. */
  readonly arePackagesExternal?: boolean
}

/** A text has no location from which to resolve packages. */
const TEXT = {
  format: "iife",
  banner: {},
  define: { "import.meta.url": JSON.stringify(pathToFileURL(join(root, "src/Threads.ts")).href) },
} satisfies BuildOptions

/** Collects the program's sources in `loaded`. */
const planting = (plant: Plant, loaded: Set<string>): Plugin => ({
  name: "plant",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const file = relative(root, path)
      loaded.add(file)
      const contents = plant(file, readFileSync(path, "utf8"))
      return contents === undefined ? undefined : { contents, loader: "ts" }
    })
  },
})

/** Returns the path of the bundle. Its thread programs, if any, are beside it. */
export const make = async ({
  entry,
  outfile,
  fault = null,
  choice = [],
  rewrite,
  areThreadsTexts = false,
  arePackagesExternal = false,
}: Program): Promise<string> => {
  const path = join(folder, outfile)
  const faults = fault === null ? choice : [fault]
  const planted: Plant =
    rewrite ?? ((file, source) => (fault === null ? plantAll(choice, file, source) : plant(fault, file, source)))
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
    plugins: [planting(planted, loaded)],
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
    const form: BuildOptions = areThreadsTexts ? TEXT : {}
    await build({ ...options, ...form, entryPoints, outbase: "src", outdir: dirname(path) })
    writeFileSync(join(dirname(path), "package.json"), '{ "type": "module" }\n')
  }
  // A fault in a file that is not loaded was not planted, and must not count as found.
  for (const { name, changes } of faults) {
    const missed = changes.find(({ file }) => !loaded.has(file))
    if (missed !== undefined) throw new Error(`fault "${name}": the program does not contain ${missed.file}`)
  }
  return path
}
