/**
 * The plugin that runs tests for Stryker, in a process of Stryker's. Vitest's own plugin resolves, loads and compiles the
 * program again for each of thousands of mutants; this one calls a function.
 */

import { resolve } from "node:path"
import { Script } from "node:vm"
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext, type StrykerOptions } from "@stryker-mutator/api/core"
import { commonTokens, declareClassPlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin"
import {
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  type TestRunner as Plugin,
  type TestResult,
  type TestRunnerCapabilities,
  TestStatus,
  toMutantRunResult,
} from "@stryker-mutator/api/test-runner"
import { getFn, startTests, type Test, type VitestRunner } from "@vitest/runner"
import { getFullName, getTests } from "@vitest/runner/utils"
import { FastCheck } from "effect"
import * as Rest from "../../test/support/Rest.js"
import * as TestFile from "./TestFile.js"

/** Where the changed program looks up which mutant it is, and counts how often a test passes each. */
const context: InstrumenterContext = {}
Reflect.set(globalThis, INSTRUMENTER_CONSTANTS.NAMESPACE, context)

// Laws draw the same values in every run, so a score can be compared with the last.
FastCheck.configureGlobal({ seed: 1 })

const idOf = (test: Test): string => `${test.file.filepath}#${test.id}`

const resultOf = (test: Test): TestResult => {
  const told = { id: idOf(test), name: getFullName(test), timeSpentMs: test.result?.duration ?? 0 }
  if (test.result?.state === "pass") return { ...told, status: TestStatus.Success }
  if (test.result?.state !== "fail") return { ...told, status: TestStatus.Skipped }
  return { ...told, status: TestStatus.Failed, failureMessage: test.result.errors?.[0]?.message ?? "" }
}

/** Calls the function below this name of the global object, since only a script can be ended while it runs. */
const caller = new Script("udgCalled()")

/** Ends what it calls after so many milliseconds, unless it waits for anything then: Stryker ends that, with the process. */
const callFor = (milliseconds: number, called: () => unknown): unknown => {
  Reflect.set(globalThis, "udgCalled", called)
  return caller.runInThisContext({ timeout: milliseconds })
}

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"

/** The tests that judge one mutant, and for how long each may run. */
interface Judgement {
  readonly chosen: ReadonlySet<string>
  readonly mutant: string
  readonly timeoutMs: number
}

/** One run of a file, up to the first test that fails. The mutant is active only while a test runs. */
class Run implements VitestRunner {
  readonly config: VitestRunner["config"] = {
    root: process.cwd(),
    setupFiles: [],
    passWithNoTests: false,
    testNamePattern: Rest.NAMES.usual,
    sequence: { seed: 1, hooks: "stack", setupFiles: "list" },
    maxConcurrency: 1,
    testTimeout: 0,
    hookTimeout: 0,
    retry: 0,
  }
  readonly importFile: TestFile.TestFile
  readonly #judgement: Judgement | undefined
  #hasFailed = false
  /** Whether a test did not come to an end. */
  isEndless = false

  constructor(importFile: TestFile.TestFile, judgement?: Judgement) {
    this.importFile = importFile
    this.#judgement = judgement
  }

  onBeforeRunTask(test: Test): void {
    if (this.#hasFailed || this.#judgement?.chosen.has(idOf(test)) === false) test.mode = "skip"
  }

  async runTask(test: Test): Promise<void> {
    Object.assign(context, { currentTestId: idOf(test), activeMutant: this.#judgement?.mutant })
    const body = getFn(test)
    try {
      await (this.#judgement === undefined ? body() : callFor(this.#judgement.timeoutMs, body))
    } catch (error) {
      this.#hasFailed = true
      this.isEndless = isTimeout(error)
      // Only its message: to print what was expected beside what came takes longer than the tests.
      throw new Error(String(error))
    } finally {
      Object.assign(context, { currentTestId: undefined, activeMutant: undefined })
    }
  }
}

class TestRunner implements Plugin {
  static readonly inject = tokens(commonTokens.options)
  readonly #paths: ReadonlyArray<string>
  readonly #loaded = new Map<string, TestFile.TestFile>()

  constructor({ testFiles = [] }: StrykerOptions) {
    this.#paths = testFiles.map((path) => resolve(path))
  }

  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: true }
  }

  async dryRun(): Promise<DryRunResult> {
    const mutantCoverage = { static: {}, perTest: {} }
    Object.assign(context, { mutantCoverage, hitCount: undefined })
    const result = await this.#run(this.#paths)
    return result.status === DryRunStatus.Complete ? { ...result, mutantCoverage } : result
  }

  async mutantRun({ activeMutant, hitLimit, testFilter = [], timeout }: MutantRunOptions): Promise<MutantRunResult> {
    Object.assign(context, { hitCount: 0, hitLimit })
    const paths = this.#paths.filter((path) => testFilter.some((id) => id.startsWith(`${path}#`)))
    // Earlier than Stryker would: another process needs longer to start than most mutants.
    const timeoutMs = Math.ceil(0.8 * timeout)
    const result = await this.#run(paths, { chosen: new Set(testFilter), mutant: activeMutant.id, timeoutMs })
    return toMutantRunResult(determineHitLimitReached(context.hitCount, hitLimit) ?? result)
  }

  async #run(paths: ReadonlyArray<string>, judgement?: Judgement): Promise<DryRunResult> {
    const tests: Array<TestResult> = []
    for (const path of paths) {
      const run = new Run(await this.#file(path), judgement)
      const [file] = await startTests([path], run)
      if (run.isEndless) return { status: DryRunStatus.Timeout }
      if (file === undefined) continue
      const [failure] = file.result?.errors ?? []
      if (failure !== undefined) return { status: DryRunStatus.Error, errorMessage: `${path}: ${failure.message}` }
      tests.push(...getTests(file).map(resultOf))
      if (tests.some(({ status }) => status === TestStatus.Failed)) break
    }
    return { status: DryRunStatus.Complete, tests }
  }

  /** Bundled when first needed: after an endless loop another process goes on, whose mutants may need few files. */
  async #file(path: string): Promise<TestFile.TestFile> {
    const known = this.#loaded.get(path)
    if (known !== undefined) return known
    const file = await TestFile.load(path)
    this.#loaded.set(path, file)
    return file
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "bundled", TestRunner)]
