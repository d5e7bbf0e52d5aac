/**
 * Ends this process if its work does not finish: after a limit of processor time, or of waiting while idle. Neither
 * grows while other programs use the processors, so a busy machine is not mistaken for an endless loop.
 */
import { writeFileSync } from "node:fs"
import { performance } from "node:perf_hooks"
import { Worker } from "node:worker_threads"

/** A second thread still runs while the main one loops. */
const WATCH = `
  const { writeFileSync } = require("node:fs")
  const { parentPort } = require("node:worker_threads")
  let looking
  parentPort.on("message", ({ endMs, mark }) => {
    clearInterval(looking)
    if (endMs === undefined) return
    looking = setInterval(() => {
      const { user, system } = process.cpuUsage()
      if ((user + system) / 1_000 < endMs) return
      writeFileSync(mark, "")
      process.kill(process.pid, "SIGKILL")
    }, 50)
  })
`

/** This process' processor time. */
export const usedMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

export class Deadline {
  readonly #watch = new Worker(WATCH, { eval: true, execArgv: [] })

  constructor() {
    this.#watch.unref()
  }

  /** At the time limit, creates a file at `mark`, which tells the next process, and ends this one. */
  async within<A>(limitMs: number, mark: string, work: () => Promise<A>): Promise<A> {
    const before = performance.eventLoopUtilization()
    const looking = setInterval(() => {
      if (performance.eventLoopUtilization(before).idle < limitMs) return
      writeFileSync(mark, "")
      process.kill(process.pid, "SIGKILL")
    }, 50)
    this.#watch.postMessage({ endMs: usedMs() + limitMs, mark })
    try {
      return await work()
    } finally {
      clearInterval(looking)
      this.#watch.postMessage({})
    }
  }
}
