/** Runs Quint's simulator, which is a program of its own, on the model in docs/spec or on a changed copy of it. */
import { execFile } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")
export const MODEL = join(root, "docs/spec")
/** Its default evaluator is a binary that it downloads. */
const BACKEND = "--backend=typescript"
const program = join(root, "node_modules/@informalsystems/quint/dist/src/cli.js")

export interface Run {
  readonly module: string
  readonly invariants: ReadonlyArray<string>
  /** Predicates that some state must fulfil for the run to have said something. */
  readonly witnesses?: ReadonlyArray<string>
  readonly seed: number | string
  readonly traces: number
  readonly steps: number
  /** Where to write the traces. */
  readonly outItf?: string
}

export interface Result {
  /** The invariants that some trace violates. */
  readonly violated: ReadonlyArray<string>
  /** In how many traces each witness was true. */
  readonly witnessed: Readonly<Record<string, number>>
  readonly text: string
}

const quint = (args: ReadonlyArray<string>): Promise<string> =>
  new Promise((done, fail) => {
    execFile(process.execPath, [program, ...args], { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      if (error === null || stdout.includes("[violation]")) done(stdout)
      else fail(new Error(`quint ${args.join(" ")}: ${stderr}${stdout}`.slice(0, 4_000)))
    })
  })

const matches = (text: string, pattern: RegExp): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(pattern)].map(([, ...groups]) => groups.map((group) => group ?? ""))

export const run = async (given: Run, folder = MODEL): Promise<Result> => {
  const { module, invariants, witnesses = [], seed, traces, steps, outItf } = given
  const text = await quint([
    ...["run", join(folder, `${module}.qnt`), `--main=${module}`, BACKEND, `--seed=${seed}`],
    // Printing a trace takes longer than making it.
    ...["--hide", "dag", "nodes", `--max-samples=${traces}`, `--max-steps=${steps}`, "--invariants", ...invariants],
    ...(witnesses.length > 0 ? ["--witnesses", ...witnesses] : []),
    ...(outItf === undefined ? [] : [`--out-itf=${outItf}`, `--n-traces=${traces}`]),
  ])
  const isViolated = text.includes("[violation]")
  // A single invariant is not marked.
  const marked = matches(text, /❌ (\w+)/g).map(([name = ""]) => name)
  const counts = matches(text, /^(\w+) was witnessed in (\d+) trace/gm)
  return {
    violated: isViolated ? (invariants.length > 1 ? marked : invariants) : [],
    witnessed: Object.fromEntries(counts.map(([name = "", count]) => [name, Number(count)])),
    text,
  }
}

export interface Change {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
}

const once = (text: string, { name, from, to }: Change): string => {
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`change "${name}": found ${parts.length - 1} of ${from}, not one`)
  return parts.join(to)
}

/** Calls `use` with a folder that holds a copy of the model, with a change and with another module. */
export const copied = async <A>(
  { change, added }: { readonly change?: Change; readonly added?: { readonly module: string; readonly text: string } },
  use: (folder: string) => Promise<A>,
): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "udg-spec-"))
  try {
    for (const file of readdirSync(MODEL)) cpSync(join(MODEL, file), join(folder, file))
    if (change !== undefined) {
      const file = join(folder, change.file)
      writeFileSync(file, once(readFileSync(file, "utf8"), change))
    }
    if (added !== undefined) writeFileSync(join(folder, `${added.module}.qnt`), added.text)
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The innermost lists that a file of the model writes out, on one line each. */
export const listed = (file: string): ReadonlyArray<string> =>
  readFileSync(join(MODEL, file), "utf8").match(/List\([\d, ]+\)/g) ?? []
