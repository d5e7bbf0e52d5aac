/**
 * Stryker's test runner plugin, which runs in a Stryker process. Vitest's plugin resolves, loads and compiles the
 * program again for each of thousands of mutants; this one calls a function.
 */

import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext, type StrykerOptions } from "@stryker-mutator/api/core"
import { commonTokens, declareClassPlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin"
import {
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
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
import { Deadline, usedMs } from "./Deadline.js"
import * as TestFile from "./TestFile.js"

/** Where the mutated program finds the active mutant and counts each test's hits. */
const context: InstrumenterContext = {}
Reflect.set(globalThis, INSTRUMENTER_CONSTANTS.NAMESPACE, context)

// Property tests draw the same values in every run, so that scores are comparable, and few, because survivors pass all
// of them. Nobody reads their counterexamples.
FastCheck.configureGlobal({ seed: 1, numRuns: 25, endOnFailure: true })

const idOf = (test: Test): string => `${test.file.filepath}#${test.id}`

const resultOf = (test: Test, timeSpentMs = 0): TestResult => {
  const told = { id: idOf(test), name: getFullName(test), timeSpentMs }
  if (test.result?.state === "pass") return { ...told, status: TestStatus.Success }
  if (test.result?.state !== "fail") return { ...told, status: TestStatus.Skipped }
  return { ...told, status: TestStatus.Failed, failureMessage: test.result.errors?.[0]?.message ?? "" }
}

/** The tests that judge one mutant. */
interface Judgement {
  readonly chosen: ReadonlySet<string>
  readonly mutant: string
}

/** Runs a file up to the first failing test. The mutant is active only during tests. */
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
  /** Processor time, which limits a mutant. */
  readonly spentMs = new Map<Test, number>()

  constructor(importFile: TestFile.TestFile, judgement?: Judgement) {
    this.importFile = importFile
    this.#judgement = judgement
  }

  onBeforeRunTask(test: Test): void {
    if (this.#hasFailed || this.#judgement?.chosen.has(idOf(test)) === false) test.mode = "skip"
  }

  async runTask(test: Test): Promise<void> {
    Object.assign(context, { currentTestId: idOf(test), activeMutant: this.#judgement?.mutant })
    const before = usedMs()
    try {
      await getFn(test)()
    } catch (error) {
      this.#hasFailed = true
      // Only the message, because printing expected and actual values takes longer than the tests.
      throw new Error(String(error))
    } finally {
      this.spentMs.set(test, usedMs() - before)
      Object.assign(context, { currentTestId: undefined, activeMutant: undefined })
    }
  }
}

class TestRunner implements Plugin {
  static readonly inject = tokens(commonTokens.options)
  readonly #paths: ReadonlyArray<string>
  readonly #loaded = new Map<string, TestFile.TestFile>()
  readonly #deadline = new Deadline()
  /** Added to Stryker's limits of elapsed time, which are generous. */
  readonly #limitOffsetMs: number

  constructor({ testFiles = [], timeoutMS, patienceMs }: StrykerOptions) {
    if (typeof patienceMs !== "number") throw new Error(`patienceMs: ${patienceMs}, expected a number`)
    this.#paths = testFiles.map((path) => resolve(path))
    this.#limitOffsetMs = patienceMs - timeoutMS
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
    // Stryker retries a mutant when its process is gone.
    const mark = resolve(`endless-${activeMutant.id}`)
    if (existsSync(mark)) return { status: MutantRunStatus.Timeout }
    Object.assign(context, { hitCount: 0, hitLimit })
    const paths = this.#paths.filter((path) => testFilter.some((id) => id.startsWith(`${path}#`)))
    for (const path of paths) await this.#file(path)
    const result = await this.#deadline.within(timeout + this.#limitOffsetMs, mark, () =>
      this.#run(paths, { chosen: new Set(testFilter), mutant: activeMutant.id }),
    )
    return toMutantRunResult(determineHitLimitReached(context.hitCount, hitLimit) ?? result)
  }

  async #run(paths: ReadonlyArray<string>, judgement?: Judgement): Promise<DryRunResult> {
    const tests: Array<TestResult> = []
    for (const path of paths) {
      const run = new Run(await this.#file(path), judgement)
      const [file] = await startTests([path], run)
      if (file === undefined) continue
      const [failure] = file.result?.errors ?? []
      if (failure !== undefined) return { status: DryRunStatus.Error, errorMessage: `${path}: ${failure.message}` }
      tests.push(...getTests(file).map((test) => resultOf(test, run.spentMs.get(test))))
      if (tests.some(({ status }) => status === TestStatus.Failed)) break
    }
    return { status: DryRunStatus.Complete, tests }
  }

  /** Bundled on first use: after an endless loop a new process continues, whose mutants can need few files. */
  async #file(path: string): Promise<TestFile.TestFile> {
    const known = this.#loaded.get(path)
    if (known !== undefined) return known
    const file = await TestFile.load(path)
    this.#loaded.set(path, file)
    return file
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "bundled", TestRunner)]
