/** Many seeds on all cores: a few worker threads, each takes the next seed as soon as it is done with one. */
import { once } from "node:events"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import type { Options, Report } from "./Simulation.js"

/** Most of what a run makes is gone with the next event; with more room for it, it is seldom looked at. */
const YOUNG_MB = 256

type Answer = { readonly report: Report } | { readonly crash: string }

/**
 * Reports in the order in which they come; stops early when `wants` says so, and then lets go of what is running. A
 * simulator that itself breaks is an error, not a report.
 */
export const run = async (
  bundle: string,
  all: Iterable<Options>,
  wants: (report: Report, options: Options) => boolean = () => true,
  threads = availableParallelism(),
): Promise<void> => {
  const left = all[Symbol.iterator]()
  let isStopped = false
  const one = async (): Promise<void> => {
    const worker = new Worker(bundle, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } })
    try {
      for (let next = left.next(); !next.done && !isStopped; next = left.next()) {
        const answer = await ask(worker, next.value)
        if ("crash" in answer) throw new Error(answer.crash)
        if (!isStopped && !wants(answer.report, next.value)) isStopped = true
      }
    } catch (error) {
      isStopped = true
      throw error
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: threads }, one))
}

const ask = async (worker: Worker, options: Options): Promise<Answer> => {
  worker.postMessage(options)
  // Rejects when the worker breaks.
  const [answer]: ReadonlyArray<Answer> = await once(worker, "message")
  if (answer === undefined) throw new Error(`no answer for seed ${options.seed}`)
  return answer
}
