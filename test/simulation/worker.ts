/** A worker thread: takes one seed at a time and returns a report for each. */
import { parentPort } from "node:worker_threads"
import * as Chosen from "../support/Chosen.js"
import * as Simulation from "./Simulation.js"

/** One run, with the planted fault to activate, if any. */
export interface Task {
  readonly options: Simulation.Options
  readonly fault: string | undefined
}

const port = parentPort
if (port === null) throw new Error("this file is for a worker thread; see Sweep.ts")

port.on("message", ({ options, fault }: Task) => {
  Chosen.choose(fault)
  try {
    port.postMessage({ report: Simulation.run(options) })
  } catch (error) {
    port.postMessage({ crash: `seed ${options.seed}: ${error instanceof Error ? error.stack : String(error)}` })
  }
})
