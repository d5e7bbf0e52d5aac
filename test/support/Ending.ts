/** The last lines of a run: what it left out, how to run that, and how long the run took. */
import type { Reporter, TestModule } from "vitest/node"
import * as Rest from "./Rest.js"

const duration = (seconds: number): string => `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`

/** The line about left-out cases of this selection. Cases skipped for other reasons do not count. */
const leftOut = (selection: Rest.Selection, modules: ReadonlyArray<TestModule>): string => {
  switch (selection) {
    case "all":
      return "This run left nothing out."
    case "rest":
      return "These were the cases that npm test leaves out, and no others."
    case "usual": {
      const cases = modules.flatMap(({ children }) => [...children.allTests()])
      const skipped = cases.filter((test) => test.result().state === "skipped" && Rest.isOf(test.fullName))
      if (skipped.length === 0) return "This run left nothing out."
      const share = `${skipped.length} of ${cases.length} cases`
      return `Left out, since they take longer: ${share}. npm run test:all runs all; docs/left-out.md lists them.`
    }
  }
}

/** Files without a selected case that should have one. */
const isIdle = ({ children }: TestModule): boolean =>
  [...children.allTests()].every((test) => test.result().state === "skipped")

export class Ending implements Reporter {
  readonly #selection: Rest.Selection

  constructor(selection: Rest.Selection) {
    this.#selection = selection
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const idle = modules.filter(isIdle)
    // A selection that selects nothing must not look like passing tests.
    if (idle.length === modules.length || (this.#selection === "rest" && idle.length > 0)) {
      process.exitCode = 1
      const files = idle.map(({ moduleId }) => moduleId).join(", ")
      process.stderr.write(`UDG_TESTS=${this.#selection} selects no case of ${files || "any file"}\n`)
    }
    // After the output of other reporters.
    process.once("exit", () => {
      process.stdout.write(`${leftOut(this.#selection, modules)}\nThis run took ${duration(process.uptime())}.\n`)
    })
  }
}
