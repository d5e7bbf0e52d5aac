import { defineConfig } from "vitest/config"
import network from "./vitest.network.config.js"

// Measures, so nothing may run beside it.
export default defineConfig({
  ...network,
  test: { ...network.test, include: ["test/network/attacks/*.long.ts"] },
})
