/** The program with every planted fault, of which a process takes the one that it is started with. */
import { copyFileSync, rmSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { Executed } from "../network/Processes.js"
import * as Bundle from "../support/Bundle.js"
import { faults } from "./Planted.js"

export interface Program {
  readonly with: (fault: string) => Required<Executed>
  readonly remove: () => void
}

export const make = async (): Promise<Program> => {
  const outfile = `histories-${process.pid}/dist/main.mjs`
  const program = await Bundle.make({ entry: "src/main.ts", outfile, choice: faults })
  const folder = dirname(dirname(program))
  // The program reads its version from the folder above its own.
  copyFileSync(resolve(import.meta.dirname, "../../package.json"), join(folder, "package.json"))
  return {
    with: (fault) => ({
      program,
      execArgv: ["--import", `data:text/javascript,globalThis.chosenFault=${JSON.stringify(fault)}`],
    }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
