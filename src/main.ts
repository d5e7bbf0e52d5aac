#!/usr/bin/env node
import { readFileSync } from "node:fs"
import * as module from "node:module"
import { join } from "node:path"

// By default Node opens its inspector on this signal, through which anyone who reaches its port can read every key.
process.on("SIGUSR1", () => {})

// Later versions of Node cache compiled code for the next start. The cache is beside the program, not in the temporary
// folder, where another user could replace the code. Without write access nothing is cached.
module.enableCompileCache?.(join(import.meta.dirname, "compiled"))

// Only this file has the same relative path to package.json in src/ and in dist/.
const { version }: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

try {
  // Imported late, because imports at the top of this file are compiled before the cache is enabled.
  const { main } = await import("./cli/Main.js")
  await main(version, process.argv.slice(2))
} catch (error) {
  if (!(error instanceof Error && error.name === "NativeModuleNotLoaded")) throw error
  process.stderr.write(`udg: ${error.message}\n`)
  process.exitCode = 1
}
