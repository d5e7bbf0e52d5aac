import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { Ending } from "./test/support/Ending.js"
import { LongestFirst } from "./test/support/LongestFirst.js"
import * as Rest from "./test/support/Rest.js"

/** They do nothing but compute, so threads serve them. */
const PURE = "test/{protocol,ledger,consensus,replica}/**/*.test.ts"
/** They mock modules, which must not be loaded yet; the files of all others leave nothing behind for the next. */
const MOCKING = ["test/protocol/crypto/*.test.ts", "test/bench/*.test.ts"]
const processes = availableParallelism()

const selection = Rest.selectionOf(process.env["UDG_TESTS"])
const threads = selection === "usual" ? Math.max(1, processes - 1) : processes
/** Files without a case of this run, which need not be loaded. */
const others = selection === "rest" ? Rest.unmarked() : []

export default defineConfig({
  resolve: { conditions: ["udg-source"] },
  ssr: { resolve: { conditions: ["udg-source"] } },
  plugins: [
    {
      name: "ending",
      // Once, and also beside reporters that the command line names.
      configureVitest: ({ project, vitest }) => {
        if (project === vitest.projects[0]) vitest.config.reporters.push(new Ending(selection))
      },
    },
  ],
  test: {
    pool: "forks",
    // Loading what they import takes longer than most files run: a process or a thread loads it once for many. Forks mostly
    // wait for programs and rounds, so there is one more than there are cores, and the threads compute beside them. With
    // fewer at least than at most, the pool ends idle forks while Vitest reuses them, and the run breaks off. What npm test
    // leaves out is mostly long computations: one thread would go on with them when the forks have long been done.
    poolOptions: {
      forks: { minForks: processes + 1, maxForks: processes + 1, isolate: false },
      threads: { minThreads: threads, maxThreads: threads, isolate: false },
    },
    maxConcurrency: processes,
    sequence: { sequencer: LongestFirst },
    setupFiles: ["test/support/Turn.ts"],
    testNamePattern: Rest.NAMES[selection],
    // Limits end what hangs; they do not judge a busy machine, and one may be four times as slow as another.
    expect: { poll: { timeout: 120_000 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      {
        extends: true,
        test: {
          name: "pure",
          include: [PURE],
          exclude: [...MOCKING, ...others],
          pool: "threads",
        },
      },
      {
        extends: true,
        test: {
          name: "node",
          include: ["test/**/*.test.ts"],
          // Those in the browser have one to start, and a command of their own: npm run test:browser.
          exclude: ["test/browser/**", PURE, ...MOCKING, ...others],
        },
      },
      {
        extends: true,
        test: {
          name: "mocking",
          include: MOCKING,
          exclude: [...others],
          // In a thread of their own, and each loads its modules anew.
          pool: "threads",
          poolOptions: { threads: { singleThread: true, isolate: true } },
        },
      },
    ],
  },
})
