/** How a run is named on the command line, so that anybody can see it again. */
import type { Options, Report } from "./Simulation.js"

export const command = ({ seed, nodes, rounds, faults, upgrades }: Options, plant?: string): string =>
  [
    "npm run simulate --",
    `--seed ${seed} --nodes ${nodes} --rounds ${rounds}`,
    `--faults ${faults.length === 0 ? "none" : faults.join(",")}`,
    ...(upgrades === true ? ["--upgrades"] : []),
    ...(plant === undefined ? [] : [`--plant ${plant}`]),
  ].join(" ")

/** What went wrong, how to see it again, and the trace. */
export const failure = (options: Options, report: Report, plant?: string): string =>
  report.failure === null
    ? ""
    : [report.failure.message, `replay: ${command(options, plant)}`, "", report.failure.trace].join("\n")
