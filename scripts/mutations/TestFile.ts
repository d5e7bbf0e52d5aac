/**
 * A test file as a function: bundled once with all of our modules that it imports, and called for each mutant. So every
 * run starts with fresh modules, and nothing is resolved or compiled twice.
 */
import { readFile } from "node:fs/promises"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { compileFunction } from "node:vm"
import { type BuildOptions, build, type Plugin } from "esbuild"

// When imported, Vitest looks for the worker that it would have started. The tests need only what it reads there.
Reflect.set(globalThis, "__vitest_worker__", { config: {}, environment: { name: "node" } })
const vitest = await import("vitest")

/** A bundle is one script, so paths that depend on a module's location are written into it. */
const places: Plugin = {
  name: "places",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8"))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)),
      loader: "ts",
    }))
  },
}

const options = {
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  conditions: ["udg-source"],
  packages: "external",
  plugins: [places],
  logLevel: "silent",
} satisfies BuildOptions

/** Loads the file and our imported modules again, which declares its tests. */
export type TestFile = () => void

export const load = async (path: string): Promise<TestFile> => {
  const { outputFiles, metafile } = await build({ ...options, entryPoints: [path] })
  const packages = new Map<string, unknown>([["vitest", vitest]])
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  for (const { path } of imports) if (!packages.has(path)) packages.set(path, await import(path))
  const declare = compileFunction(outputFiles.map(({ text }) => text).join(), ["require", "module"], { filename: path })
  return () => void declare((name: string) => packages.get(name), { exports: {} })
}
