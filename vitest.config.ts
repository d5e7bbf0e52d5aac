import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["udg-source"] },
  ssr: { resolve: { conditions: ["udg-source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    testTimeout: 30_000,
  },
})
