/** A program beside which the built package lies as npm would have put it. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")

export interface Outcome {
  readonly code: number | null
  readonly said: string
}

export const run = (program: string): Promise<Outcome> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-stranger-"))
  mkdirSync(join(folder, "node_modules"))
  symlinkSync(root, join(folder, "node_modules/udg-node"))
  writeFileSync(join(folder, "stranger.mjs"), program)
  return new Promise((settle, fail) => {
    const child = spawn(process.execPath, ["stranger.mjs"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] })
    let said = ""
    child.stdout.on("data", (text: Buffer) => (said += text))
    child.stderr.on("data", (text: Buffer) => (said += text))
    child.on("error", fail)
    child.on("close", (code) => {
      rmSync(folder, { recursive: true })
      settle({ code, said })
    })
  })
}
