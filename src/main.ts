#!/usr/bin/env node
import { readFileSync } from "node:fs"
import * as module from "node:module"
import { join } from "node:path"

// By default Node opens its inspector on this signal, and whoever reaches that port reads every key.
process.on("SIGUSR1", () => {})

// Later versions of Node keep compiled code for the next start. It lies beside the program and not in the folder for
// temporary files: there somebody else could put code in its place. Where this user may not write, nothing is kept.
module.enableCompileCache?.(join(import.meta.dirname, "compiled"))

// The one place that is as far from package.json in src/ as in dist/.
const { version }: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

// Whatever is imported at the top of this file is compiled before that.
const { main } = await import("./cli/Main.js")
await main(version, process.argv.slice(2))
