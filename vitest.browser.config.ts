import { defineConfig } from "vitest/config"

/** The explorer in a real browser: `npm run test:browser`. One file at a time, since each has a node and a browser. */
export default defineConfig({
  resolve: { conditions: ["udg-source"] },
  ssr: { resolve: { conditions: ["udg-source"] } },
  test: {
    include: ["test/browser/**/*.test.ts"],
    pool: "forks",
    fileParallelism: false,
    // Limits end what hangs; they do not judge a busy machine.
    expect: { poll: { timeout: 120_000 } },
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
})
