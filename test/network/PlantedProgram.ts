/** The program with one line altered, as a bad day would have left it: what the altered node ends of is seen from outside. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { build } from "esbuild"

const root = resolve(import.meta.dirname, "../..")
/** Below node_modules, so that the native packages are found from there. */
const folder = join(root, "node_modules/.cache/udg-planted")

export interface Alteration {
  /** Below src/. */
  readonly file: string
  /** Stands there exactly once. */
  readonly line: string
  readonly by: string
}

const altered = ({ file, line, by }: Alteration): string => {
  const source = readFileSync(join(root, "src", file), "utf8")
  const count = source.split(line).length - 1
  if (count !== 1) throw new Error(`src/${file} holds ${count} times, not once: ${line}`)
  return source.replace(line, () => by)
}

/** The path of the altered program. */
export const make = async (alteration: Alteration): Promise<string> => {
  mkdirSync(folder, { recursive: true })
  const place = mkdtempSync(join(folder, "program-"))
  // The program reads its version from the folder above its own.
  const outfile = join(place, "dist/main.mjs")
  writeFileSync(join(place, "package.json"), readFileSync(join(root, "package.json")))
  const contents = altered(alteration)
  const path = join(root, "src", alteration.file)
  await build({
    absWorkingDir: root,
    entryPoints: ["src/main.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    conditions: ["udg-source"],
    external: ["sodium-native", "better-sqlite3"],
    plugins: [
      {
        name: "alter",
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, (loaded) => (loaded.path === path ? { contents, loader: "ts" } : undefined)),
      },
    ],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "silent",
  })
  return outfile
}
