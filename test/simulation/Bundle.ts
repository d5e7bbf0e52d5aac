/** Bundles the simulator with the program under test, with or without one planted fault. */
import * as Bundle from "../support/Bundle.js"
import { type Fault, faults } from "./Planted.js"

/** Returns the path of the bundled worker. */
export const make = (fault: Fault | null = null): Promise<string> =>
  Bundle.make({
    entry: "test/simulation/worker.ts",
    outfile: `simulation/${fault === null ? "worker" : `planted-${fault.name}`}-${process.pid}.mjs`,
    fault,
  })

/** A bundle with all faults. Each run activates at most one of them. */
export const makeWithAll = (): Promise<string> =>
  Bundle.make({
    entry: "test/simulation/worker.ts",
    outfile: `simulation/planted-${process.pid}.mjs`,
    choice: faults,
  })
