/** A program with the built package installed as npm would install it. */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")

export interface Outcome {
  readonly code: number | null
  readonly said: string
}

/** Runs Node in a folder with these files, where the package is installed. */
const within = (files: Readonly<Record<string, string>>, args: ReadonlyArray<string>): Promise<Outcome> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-stranger-"))
  mkdirSync(join(folder, "node_modules"))
  symlinkSync(root, join(folder, "node_modules/udg-node"))
  // Other packages that a program may have installed.
  for (const name of ["@types", "effect", "@effect"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name))
  execFileSync(process.execPath, [join(root, "scripts/build-client.mjs"), join(folder, "node_modules/udg-client")])
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return new Promise((settle, fail) => {
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] })
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

export const run = (program: string): Promise<Outcome> => within({ "stranger.mjs": program }, ["stranger.mjs"])

/** Compiles programs strictly, each as a separate module. */
export const compile = (programs: ReadonlyArray<string>, resolution: "bundler" | "nodenext"): Promise<Outcome> => {
  const config = {
    compilerOptions: {
      target: "es2022",
      lib: ["es2023", "dom"],
      module: resolution === "nodenext" ? "nodenext" : "esnext",
      moduleResolution: resolution,
      types: ["node"],
      strict: true,
      skipLibCheck: false,
      noEmit: true,
    },
    include: ["*.mts"],
  }
  const files = Object.fromEntries(programs.map((text, i) => [`program${i}.mts`, text]))
  return within({ ...files, "tsconfig.json": JSON.stringify(config) }, [join(root, "node_modules/typescript/bin/tsc")])
}
