/** Changes files of the program in one place after the other, and runs tests against each change, with Stryker. */
import { fileURLToPath } from "node:url"
import type { MutantResult, PartialStrykerOptions } from "@stryker-mutator/api/core"
import { Stryker } from "@stryker-mutator/core"

/** Both kinds of process that Stryker starts load the plugin, which is TypeScript. */
const nodeArgs = [`--import=${import.meta.resolve("tsx")}`]

const options = {
  // Says nothing of processes that ended an endless loop and themselves, nor that `patienceMs` is an option of ours.
  configFile: fileURLToPath(new URL("quiet.json", import.meta.url)),
  testRunner: "bundled",
  plugins: [fileURLToPath(new URL("TestRunner.ts", import.meta.url))],
  testRunnerNodeArgs: nodeArgs,
  checkerNodeArgs: nodeArgs,
  coverageAnalysis: "perTest",
  // Of what runs as a module loads, Stryker cannot say which tests judge it.
  ignoreStatic: true,
  concurrency: 1,
  dryRunTimeoutMinutes: 30,
  // By the clock, so only for a process that answers no more: `TestRunner.ts` limits what tests may take.
  timeoutMS: 3_600_000,
  // Nothing here compiles with the TypeScript that Stryker expects.
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
  /** Where every mutant is told of, as JSON. */
  readonly report: string
}

/** How much more processor time than without a mutant a test may take. What does not come to an end counts as noticed. */
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
