/** Mutates the program's files one place at a time and runs tests against each mutant, with Stryker. */
import { fileURLToPath } from "node:url"
import type { MutantResult, PartialStrykerOptions } from "@stryker-mutator/api/core"
import { Stryker } from "@stryker-mutator/core"

/** Both kinds of Stryker's processes load the plugin, which is TypeScript. */
const nodeArgs = [`--import=${import.meta.resolve("tsx")}`]

const options = {
  // Hides processes that ended an endless loop and themselves, and the unknown option `patienceMs`, which is ours.
  configFile: fileURLToPath(new URL("quiet.json", import.meta.url)),
  testRunner: "bundled",
  plugins: [fileURLToPath(new URL("TestRunner.ts", import.meta.url))],
  testRunnerNodeArgs: nodeArgs,
  checkerNodeArgs: nodeArgs,
  coverageAnalysis: "perTest",
  // Stryker cannot attribute code that runs while a module loads to tests.
  ignoreStatic: true,
  concurrency: 1,
  dryRunTimeoutMinutes: 30,
  // Elapsed time, so only for a process that no longer answers; `TestRunner.ts` limits tests.
  timeoutMS: 3_600_000,
  // Nothing here compiles with the TypeScript version that Stryker expects.
  tsconfigFile: "none",
  disableTypeChecks: false,
  tempDirName: ".stryker",
  ignorePatterns: ["/bench", "/dist", "/ops", "/reports", ".build-*"],
  reporters: [process.stdout.isTTY ? "progress" : "progress-append-only", "clear-text", "json"],
  clearTextReporter: { allowEmojis: false, reportTests: false, logTests: false, reportScoreTable: false },
} satisfies PartialStrykerOptions

/** Paths below the working directory, also with wildcards. */
interface Judged {
  readonly mutate: ReadonlyArray<string>
  readonly tests: ReadonlyArray<string>
  /** The JSON report of every mutant. */
  readonly report: string
}

/** The factor by which a test can exceed its processor time without a mutant. Tests that do not end count as failed. */
const PATIENCE_MS = 10_000

export const judge = (
  { mutate, tests, report }: Judged,
  patienceMs = PATIENCE_MS,
): Promise<ReadonlyArray<MutantResult>> =>
  new Stryker({
    ...options,
    patienceMs,
    mutate: [...mutate],
    testFiles: [...tests],
    jsonReporter: { fileName: report },
  }).runMutationTest()
