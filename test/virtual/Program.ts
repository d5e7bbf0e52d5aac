/** Bundles the program with everything virtual in its place, and runs it. */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import type { Verdict, Wish } from "../histories/Run.js"
import * as Bundle from "../support/Bundle.js"
import { type Fault, plantAll } from "../support/Planting.js"
import type { Order } from "./main.js"

/** What replaces a file of the program. */
const REPLACED: Readonly<Record<string, string>> = {
  "src/Threads.ts": 'export { start } from "../test/virtual/Threads.js"',
  "src/network/tls/TlsWire.ts": 'export { TlsWire } from "../../../test/virtual/VirtualWire.js"',
}

/** Where nobody waits for a disk. */
const MEMORY = "/dev/shm"

export interface Program {
  /** What happens is told on the standard error. */
  readonly run: (wish: Wish, fault?: Fault) => Promise<Verdict>
  readonly remove: () => void
}

export const make = async (faults: ReadonlyArray<Fault> = []): Promise<Program> => {
  const main = await Bundle.make({
    entry: "test/virtual/main.ts",
    outfile: `virtual-${process.pid}/main.mjs`,
    choice: faults,
    rewrite: (file, source) => REPLACED[file] ?? plantAll(faults, file, source),
    areThreadsTexts: true,
  })
  return {
    run: ({ seed, seconds, weather, file, say }, fault) => {
      const order: Order = { seed, seconds, weather, file, fault: fault?.name }
      const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "udg-virtual-"))
      return new Promise<Verdict>((resolve, reject) => {
        // A seed does the same in every environment.
        const env = { PATH: process.env["PATH"] ?? "", TZ: "UTC", TMPDIR: folder }
        const child = spawn(process.execPath, [main, JSON.stringify(order)], { stdio: ["ignore", "pipe", "pipe"], env })
        const end = (): void => void child.kill("SIGKILL")
        process.once("exit", end)
        let told = ""
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          told += text
        })
        createInterface({ input: child.stderr }).on("line", say)
        child.once("close", (code) => {
          process.off("exit", end)
          if (code === 0) resolve(JSON.parse(told))
          else reject(new Error(`seed ${seed}: the program ended with ${code}`))
        })
      }).finally(() => rmSync(folder, { recursive: true, force: true }))
    },
    remove: () => rmSync(dirname(main), { recursive: true, force: true }),
  }
}
