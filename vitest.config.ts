import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** They keep no state outside of values, so one file leaves nothing behind for the next; but for one that mocks a module. */
const PURE = "test/{protocol,ledger,consensus,replica}/**/*.test.ts"
const MOCKING = "test/protocol/crypto/**"
/** Has as many threads of its own as there are cores. */
const SIMULATION = "test/simulation/**/*.test.ts"

const processes = availableParallelism()

/** One group after the other. */
export default defineConfig({
  resolve: { conditions: ["udg-source"] },
  ssr: { resolve: { conditions: ["udg-source"] } },
  test: {
    pool: "forks",
    // Vitest leaves one core to itself, which on a machine of two halves the speed.
    poolOptions: { forks: { maxForks: processes }, threads: { maxThreads: processes, isolate: false } },
    maxConcurrency: processes,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        // Loading what they import takes longer than most of them run: a thread loads it once for many.
        test: { name: "pure", include: [PURE], exclude: [MOCKING], pool: "threads", sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: "node",
          include: ["test/**/*.test.ts", `${MOCKING}/*.test.ts`],
          // Those in the browser have one to start, and a command of their own: npm run test:browser.
          exclude: ["test/browser/**", "test/{ledger,consensus,replica}/**", "test/protocol/*.test.ts", SIMULATION],
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: "simulation", include: [SIMULATION], sequence: { groupOrder: 2 } } },
    ],
  },
})
