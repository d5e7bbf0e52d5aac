/** The tests, with the finding that `UDG_PUT_BACK` names put back. */
import { relative, resolve } from "node:path"
import { defineConfig } from "vitest/config"
import tests from "../../vitest.config.js"
import { plant } from "../support/Planting.js"
import { named } from "./Findings.js"

const root = resolve(import.meta.dirname, "../..")
const finding = named(process.env["UDG_PUT_BACK"] ?? "")

// biome-ignore lint/style/noDefaultExport: Vitest takes it from here.
export default defineConfig((env) => {
  const config = tests(env)
  const putBack = {
    name: "put back",
    enforce: "pre" as const,
    transform: (code: string, id: string) => plant(finding, relative(root, id), code),
  }
  return { ...config, plugins: [...(config.plugins ?? []), putBack] }
})
