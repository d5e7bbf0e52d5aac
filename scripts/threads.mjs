// `#threads` for sources in tests and benches: Node.js 20 cannot run TypeScript, and Vitest and tsx do not help in
// threads. A thread's program is compiled when it is first started. Builds have src/Threads.ts instead.
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import { buildSync } from "esbuild"

const root = resolve(import.meta.dirname, "..")

const compiled = (file) => {
  const source = join(root, file)
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [source],
    bundle: true,
    platform: "node",
    target: "node20",
    // Only functions: the top level of an evaluated text shares its names with Node.js.
    format: "iife",
    conditions: ["udg-source"],
    external: ["sodium-native", "better-sqlite3"],
    // An evaluated text has no location from which to resolve packages.
    define: { "import.meta.url": JSON.stringify(pathToFileURL(source).href) },
    write: false,
  })
  return outputFiles[0].text
}

const texts = new Map()

/** Starts a thread with the program in this file, relative to the root. */
export const startFile = (file, data) => {
  const text = texts.get(file) ?? compiled(file)
  texts.set(file, text)
  // It needs none of this process's arguments; tsx would only slow the start down.
  return new Worker(text, { eval: true, execArgv: [], workerData: data })
}

export const start = (program, data) => startFile(`src/${program}.ts`, data)
