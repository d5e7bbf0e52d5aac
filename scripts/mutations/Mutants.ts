/** Changes files of the program in one place after the other, and runs tests against each change, with Stryker. */
import { fileURLToPath } from "node:url"
import type { MutantResult, PartialStrykerOptions } from "@stryker-mutator/api/core"
import { Stryker } from "@stryker-mutator/core"

/** Both kinds of process that Stryker starts load the plugin, which is TypeScript. */
const nodeArgs = [`--import=${import.meta.resolve("tsx")}`]

const options = {
  testRunner: "bundled",
  plugins: [fileURLToPath(new URL("TestRunner.ts", import.meta.url))],
  testRunnerNodeArgs: nodeArgs,
  checkerNodeArgs: nodeArgs,
  coverageAnalysis: "perTest",
  // Of what runs as a module loads, Stryker cannot say which tests judge it.
  ignoreStatic: true,
  concurrency: 1,
  dryRunTimeoutMinutes: 30,
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

/**
 * How much longer than without a mutant tests may take. What does not come to an end counts as noticed, so a busy machine
 * must not pass for it.
 */
const PATIENCE_MS = 10_000

export const judge = (
  { mutate, tests, report }: Judged,
  patienceMs = PATIENCE_MS,
): Promise<ReadonlyArray<MutantResult>> =>
  new Stryker({
    ...options,
    timeoutMS: patienceMs,
    mutate: [...mutate],
    testFiles: [...tests],
    jsonReporter: { fileName: report },
  }).runMutationTest()
