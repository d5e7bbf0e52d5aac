/** A worker thread: takes seeds one by one, gives a report for each. */
import { parentPort } from "node:worker_threads"
import * as Simulation from "./Simulation.js"

const port = parentPort
if (port === null) throw new Error("this file is for a worker thread; see Sweep.ts")

port.on("message", (options: Simulation.Options) => {
  try {
    port.postMessage({ report: Simulation.run(options) })
  } catch (error) {
    port.postMessage({ crash: `seed ${options.seed}: ${error instanceof Error ? error.stack : String(error)}` })
  }
})
