/** Bundles a program from the sources, as they are or with a fault planted in them while the bundler reads them. */
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { PROGRAMS } from "../../src/Threads.js"
import { type Fault, plant, plantAll } from "./Planting.js"

const root = resolve(import.meta.dirname, "../..")
/** Below node_modules, so that a bundle finds the packages it imports. */
const folder = join(root, "node_modules/.cache/udg-test")

export type Plant = (file: string, source: string) => string | undefined

interface Program {
  /** From the root of the project. */
  readonly entry: string
  /** Below the folder of all bundles. */
  readonly outfile: string
  readonly fault?: Fault | null
  /** Of which the program chooses one while it runs, with `Chosen.ts`. */
  readonly choice?: ReadonlyArray<Fault>
  /** What to read in place of a source, by its path from the root; undefined to leave it as it is. */
  readonly rewrite?: Plant
  /** Import every package at run time, not only the native ones: bundles faster, starts slower. */
  readonly arePackagesExternal?: boolean
}

/** Remembers in `loaded` which sources the program contains. */
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

/** The path of the bundle. If it starts threads, their programs lie beside it. */
export const make = async ({
  entry,
  outfile,
  fault = null,
  choice = [],
  rewrite,
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
    await build({ ...options, entryPoints, outbase: "src", outdir: dirname(path) })
    writeFileSync(join(dirname(path), "package.json"), '{ "type": "module" }\n')
  }
  // A fault in a file that nothing loads was never planted, and must not pass for one that was found.
  for (const { name, changes } of faults) {
    const missed = changes.find(({ file }) => !loaded.has(file))
    if (missed !== undefined) throw new Error(`fault "${name}": the program does not contain ${missed.file}`)
  }
  return path
}
