/**
 * Ends this process when work does not come to an end: when it has used so much processor time, or has waited for so long
 * with nothing to do. Neither grows while other programs have the processors, so a busy machine does not pass for an endless
 * loop.
 */
import { writeFileSync } from "node:fs"
import { performance } from "node:perf_hooks"
import { Worker } from "node:worker_threads"

/** Another thread still acts while the main one runs in a loop. */
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

/** The processor time of this process. */
export const usedMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

export class Deadline {
  readonly #watch = new Worker(WATCH, { eval: true, execArgv: [] })

  constructor() {
    this.#watch.unref()
  }

  /** When the time is up there will be a file at `mark`, by which the next process knows of it, and this one will be gone. */
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
