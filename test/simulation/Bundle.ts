/** Bundles the simulator with the program under test, as it is or with one fault planted in it. */
import * as Bundle from "../support/Bundle.js"
import { type Fault, faults } from "./Planted.js"

/** The path of the bundled worker. */
export const make = (fault: Fault | null = null): Promise<string> =>
  Bundle.make({
    entry: "test/simulation/worker.ts",
    outfile: `simulation/${fault === null ? "worker" : `planted-${fault.name}`}-${process.pid}.mjs`,
    fault,
  })

/** With all faults, of which a thread plants one for a run. */
export const makeWithAll = (): Promise<string> =>
  Bundle.make({
    entry: "test/simulation/worker.ts",
    outfile: `simulation/planted-${process.pid}.mjs`,
    choice: faults,
  })
