/** Runs watches one after the other and records each when it is over. What a stop cuts off runs again. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import * as Record from "./Record.js"
import type { Watch } from "./Watches.js"

export interface Wish {
  readonly root: string
  /** Of the record. */
  readonly folder: string
  readonly page: string
  readonly watches: ReadonlyArray<Watch>
  readonly seconds: number
  readonly say: (text: string) => void
  readonly ended: AbortSignal
}

export const start = (
  root: string,
  [program = "", ...words]: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): ChildProcess =>
  // In a group of its own, which ends as a whole.
  spawn(program, words, { cwd: root, env: { ...process.env, ...environment }, stdio: "ignore", detached: true })

const commitOf = (root: string): string =>
  execFileSync("git", ["rev-parse", "--short=8", "HEAD"], { cwd: root, encoding: "utf8" }).trim()

const codeOf = async (child: ChildProcess, ended: AbortSignal): Promise<number | null> => {
  const stop = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM")
  }
  ended.addEventListener("abort", stop, { once: true })
  const [code]: ReadonlyArray<number | null> = await once(child, "exit")
  ended.removeEventListener("abort", stop)
  return code ?? null
}

/** Ends when the time is over or it is told to; the watch that runs then is cut off. */
export const run = async ({ root, folder, page, watches, seconds, say, ended }: Wish): Promise<Record.Contents> => {
  const timeout = AbortSignal.any([ended, AbortSignal.timeout(seconds * 1_000)])
  let contents = Record.read(folder)
  for (let watch = Record.dueOf(contents, watches); watch !== undefined; watch = Record.dueOf(contents, watches)) {
    const seed = Record.seedOf(contents, watch)
    const began = performance.now()
    const commit = commitOf(root)
    const code = await codeOf(start(root, watch.command(seed), watch.environment?.(seed) ?? {}), timeout)
    if (timeout.aborted) break
    const isPassed = code === 0
    const spent = (performance.now() - began) / 1_000
    contents = Record.add(contents, { watch, seed, commit, seconds: spent, isPassed })
    Record.write(folder, contents)
    Record.replace(page, Record.page(contents))
    say(`${watch.name} ${seed}: ${isPassed ? "passed" : `FAILED with ${code}`} in ${spent.toFixed(0)} s`)
  }
  return contents
}
