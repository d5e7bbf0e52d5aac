import { defineConfig } from "vitest/config"
import base from "./vitest.config.js"

// Without the projects of the short tests, each of which would run all of these.
const { projects: _, ...test } = base.test ?? {}

// The long stories of networks of processes, one after the other: each needs the machine for itself.
export default defineConfig({
  ...base,
  test: { ...test, include: ["test/network/*.long.ts"], fileParallelism: false },
})
