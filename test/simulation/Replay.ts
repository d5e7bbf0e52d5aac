/** The command line that repeats a run. */
import type { Options, Report } from "./Simulation.js"

export const command = (
  { seed, nodes, rounds, faults, upgrades, rotations, signers }: Options,
  plant?: string,
): string =>
  [
    "npm run simulate --",
    `--seed ${seed} --nodes ${nodes} --rounds ${rounds}`,
    `--faults ${faults.length === 0 ? "none" : faults.join(",")}`,
    ...(upgrades === true ? ["--upgrades"] : []),
    ...(rotations === true ? ["--rotations"] : []),
    ...(signers === true ? ["--signers"] : []),
    ...(plant === undefined ? [] : [`--plant ${plant}`]),
  ].join(" ")

/** Describes a failure: the violation, the command that repeats it, and the trace. */
export const failure = (options: Options, report: Report, plant?: string): string =>
  report.failure === null
    ? ""
    : [report.failure.message, `replay: ${command(options, plant)}`, "", report.failure.trace].join("\n")
