import { defineConfig } from "vitest/config"

/** The explorer in a real browser: `npm run test:browser`. One file at a time, since each has a node and a browser. */
export default defineConfig({
  resolve: { conditions: ["udg-source"] },
  ssr: { resolve: { conditions: ["udg-source"] } },
  test: {
    include: ["test/browser/**/*.test.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
