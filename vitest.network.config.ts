import { defineConfig } from "vitest/config"
import base from "./vitest.config.js"

// The long stories of networks of processes, one after the other: each needs the machine for itself.
export default defineConfig({
  ...base,
  test: { ...base.test, include: ["test/network/**/*.long.ts"], fileParallelism: false },
})
