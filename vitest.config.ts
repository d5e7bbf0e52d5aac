import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["udg-source"] },
  ssr: { resolve: { conditions: ["udg-source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    // They have a browser to start, and a command of their own: npm run test:browser.
    exclude: ["test/browser/**"],
    pool: "forks",
    // Vitest leaves one core to itself, which on a machine of two halves the speed.
    poolOptions: { forks: { maxForks: availableParallelism() } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
