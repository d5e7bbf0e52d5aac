import { availableParallelism } from "node:os"
import { defineConfig, type ViteUserConfig } from "vitest/config"
import { Ending } from "./test/support/Ending.js"
import { LongestFirst } from "./test/support/LongestFirst.js"
import * as Rest from "./test/support/Rest.js"

/** They do nothing but compute, so threads serve them. */
const PURE = "test/{protocol,ledger,consensus,replica}/**/*.test.ts"
/** They mock modules, which must not be loaded yet; the files of all others leave nothing behind for the next. */
const MOCKING = ["test/protocol/crypto/*.test.ts", "test/bench/*.test.ts"]
const processes = availableParallelism()
const PATIENT = ["--import", new URL("test/support/patience.mjs", import.meta.url).href]

const selection = Rest.selectionOf(process.env["UDG_TESTS"])
const threads = selection === "usual" ? Math.max(1, processes - 1) : processes
/** Files without a case of this run, which need not be loaded. */
const others = selection === "rest" ? Rest.unmarked() : []

const resolved = { resolve: { conditions: ["udg-source"] }, ssr: { resolve: { conditions: ["udg-source"] } } }

// Limits end what hangs; they do not judge a busy machine, and one may be four times as slow as another.
const limits = { expect: { poll: { timeout: 120_000 } }, testTimeout: 300_000, hookTimeout: 300_000 }

const plugins: ViteUserConfig["plugins"] = [
  {
    name: "ending",
    // Once, and also beside reporters that the command line names.
    configureVitest: ({ project, vitest }) => {
      if (project === vitest.projects[0]) vitest.config.reporters.push(new Ending(selection))
    },
  },
]

const shared: ViteUserConfig["test"] = {
  ...limits,
  pool: "forks",
  // Loading what they import takes longer than most files run: a process or a thread loads it once for many. Forks mostly
  // wait for programs and rounds, so there is one more than there are cores, and the threads compute beside them. With
  // fewer at least than at most, the pool ends idle forks while Vitest reuses them, and the run breaks off. What npm test
  // leaves out is mostly long computations: one thread would go on with them when the forks have long been done.
  poolOptions: {
    forks: { minForks: processes + 1, maxForks: processes + 1, isolate: false, execArgv: PATIENT },
    threads: { minThreads: threads, maxThreads: threads, isolate: false, execArgv: PATIENT },
  },
  maxConcurrency: processes,
  sequence: { sequencer: LongestFirst },
  setupFiles: ["test/support/Turn.ts"],
  testNamePattern: Rest.NAMES[selection],
}

const projects: NonNullable<ViteUserConfig["test"]>["projects"] = [
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
]

/** The long stories of networks of processes, one after the other: each needs the machine for itself. */
const stories = (include: string): ViteUserConfig["test"] => ({
  ...shared,
  testTimeout: 600_000,
  include: [include],
  fileParallelism: false,
})

/** What `vitest run --mode NAME` runs; without a name, `test`. */
const modes: { readonly [mode: string]: ViteUserConfig["test"] } = {
  test: { ...shared, projects },
  network: stories("test/network/*.long.ts"),
  /** They measure, so nothing may run beside them. */
  attacks: stories("test/network/attacks/*.long.ts"),
  /** The pages in a real browser, two files at a time, since each has a node and a browser and mostly waits. */
  browser: {
    ...limits,
    include: ["test/browser/**/*.test.ts"],
    pool: "forks",
    poolOptions: { forks: { minForks: 2, maxForks: 2 } },
    testTimeout: 600_000,
  },
  /**
   * Which lines and branches of the pure rooms are reached by their tests. The fuzzer of the replica
   * and the inspection of messages are among them, since they ask what a whole network asks. Of the branches that are left
   * some assert what the ledger itself keeps (`test/ledger/assertions.test.ts`), many are cases that a caller has excluded and
   * the types have not (docs/mutations.md), and others are reached by the tests of the node, the simulator and the disk alone.
   */
  coverage: {
    ...shared,
    include: ["test/{protocol,ledger,consensus,replica,fuzz}/**/*.test.ts", "test/node/MessageInspection.test.ts"],
    // They mock modules, or judge programs of their own.
    exclude: ["test/protocol/crypto/**", "test/ledger/mutations.test.ts"],
    pool: "threads",
    coverage: {
      enabled: true,
      reportOnFailure: true,
      provider: "v8",
      include: ["src/{protocol,ledger,consensus,replica,collections}/**/*.ts"],
      reporter: [["text", { skipFull: true }]],
      thresholds: { lines: 98, branches: 97 },
    },
  },
}

export default defineConfig(({ mode }) => {
  // What only reads this file, such as knip, asks for Vite's usual modes.
  const test = modes[mode === "development" || mode === "production" ? "test" : mode]
  if (test === undefined) throw new Error(`--mode ${mode}: expected ${Object.keys(modes).join(", ")}`)
  return { ...resolved, plugins: mode === "browser" ? [] : plugins, test }
})
