#!/usr/bin/env node
/**
 * `npm run test:nodes`: installs, builds and tests the last commit on each Node.js line that package.json supports, or
 * on those named: `npm run test:nodes -- 24`. Node.js comes from npm, with the headers for building SQLite's driver.
 * Prints a table and fails if anything did.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import process from "node:process"

const LINES = ["20", "22", "24", "26"]

const root = new URL("..", import.meta.url).pathname
const scratch = mkdtempSync(join(tmpdir(), "udg-nodes-"))
const named = process.argv.slice(2)
const lines = named.length === 0 ? LINES : named

/** The folder of a line's program, including headers. */
const install = (line) => {
  const name = `node-${process.platform}-${process.arch}`
  const folder = join(scratch, `node-${line}`)
  mkdirSync(folder)
  execFileSync("npm", ["install", "--no-save", "--no-audit", "--prefix", folder, `${name}@${line}`], {
    stdio: "ignore",
  })
  return join(folder, "node_modules", name)
}

const steps = [
  ["install", ["npm", "ci"]],
  ["build", ["npm", "run", "build"]],
  ["test", ["npm", "test"]],
]

const rows = []
try {
  for (const line of lines) {
    const folder = install(line)
    const path = [join(folder, "bin"), process.env.PATH].join(delimiter)
    const env = { ...process.env, PATH: path, npm_config_nodedir: folder }
    const version = execFileSync("node", ["--version"], { env, encoding: "utf8" }).trim()
    const checkout = join(scratch, `checkout-${line}`)
    execFileSync("git", ["clone", "--quiet", root, checkout])
    const row = { version }
    for (const [name, [command, ...words]] of steps) {
      const began = Date.now()
      const { status } = spawnSync(command, words, { cwd: checkout, env, stdio: ["ignore", "inherit", "inherit"] })
      const seconds = Math.round((Date.now() - began) / 1_000)
      row[name] = status === 0 ? `${seconds} s` : `failed after ${seconds} s`
      if (status !== 0) {
        process.exitCode = 1
        break
      }
    }
    rows.push(row)
    rmSync(checkout, { recursive: true, force: true })
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
console.table(rows)
