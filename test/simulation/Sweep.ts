/** Runs many seeds on all cores. Each worker thread takes the next seed when it has finished one. */
import { once } from "node:events"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import type { Options, Report } from "./Simulation.js"
import type { Task } from "./worker.js"

/** Most objects of a run live for one event. A large young generation makes collections rare. */
const YOUNG_MB = 256

type Answer = { readonly report: Report } | { readonly crash: string }

/** Whether to go on. */
type Wants = (report: Report, options: Options) => boolean

/** Threads that serve several sweeps: a new thread takes as long for its first seeds as later for ten. */
export class Crew {
  readonly #workers: ReadonlyArray<Worker>

  constructor(bundle: string, threads = availableParallelism()) {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB }
    this.#workers = Array.from({ length: threads }, () => new Worker(bundle, { resourceLimits }))
  }

  /**
   * Reports in order of completion. A failure of the simulator itself is an error, not a report. Runs in progress are
   * abandoned when `wants` returns false; a crew of several threads must then be dismissed.
   */
  async run(all: Iterable<Options>, wants: Wants = () => true, fault?: string): Promise<void> {
    const left = all[Symbol.iterator]()
    await new Promise<void>((finish, fail) => {
      let isStopped = false
      const work = async (worker: Worker): Promise<void> => {
        for (let next = left.next(); !next.done && !isStopped; next = left.next()) {
          const answer = await ask(worker, { options: next.value, fault })
          if (isStopped) return
          if ("crash" in answer) throw new Error(answer.crash)
          isStopped = !wants(answer.report, next.value)
        }
        if (isStopped) finish()
      }
      Promise.all(this.#workers.map(work)).then(() => finish(), fail)
    })
  }

  async dismiss(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}

/** One sweep with its own crew. Stops early, abandoning runs in progress, when `wants` returns false. */
export const run = async (
  bundle: string,
  all: Iterable<Options>,
  wants?: Wants,
  threads = availableParallelism(),
): Promise<void> => {
  const crew = new Crew(bundle, threads)
  try {
    await crew.run(all, wants)
  } finally {
    await crew.dismiss()
  }
}

const ask = async (worker: Worker, task: Task): Promise<Answer> => {
  const { options } = task
  worker.postMessage(task)
  const [answer]: ReadonlyArray<Answer> = await once(worker, "message").catch((error: unknown) => {
    throw new Error(`the thread of seed ${options.seed} broke`, { cause: error })
  })
  if (answer === undefined) throw new Error(`no answer for seed ${options.seed}`)
  return answer
}
