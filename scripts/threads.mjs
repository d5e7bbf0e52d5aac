// `#threads` where sources run, in tests and benches: Node 20 runs no TypeScript, and in a thread neither Vitest nor tsx
// helps. So the program of a thread is compiled when it is first started. What is built has src/Threads.ts instead.
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
    // Of functions alone: a text that is run has the names of its top level in common with Node.
    format: "iife",
    conditions: ["udg-source"],
    external: ["sodium-native", "better-sqlite3"],
    // A text has no place of its own to look for packages from.
    define: { "import.meta.url": JSON.stringify(pathToFileURL(source).href) },
    write: false,
  })
  return outputFiles[0].text
}

const texts = new Map()

/** Starts a thread with the program in this file, named from the root. */
export const startFile = (file, data) => {
  const text = texts.get(file) ?? compiled(file)
  texts.set(file, text)
  // Of the arguments that this process was started with it needs none; tsx would only make it slow to start.
  return new Worker(text, { eval: true, execArgv: [], workerData: data })
}

export const start = (program, data) => startFile(`src/${program}.ts`, data)
