import { execFileSync } from "node:child_process"
import { readdirSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Releases from "./Releases.js"

const MOST_BYTES = 2 * 1_048_576

describe.each(Releases.names)("the kept release %s", (name) => {
  it("is a program that reports the versions it was kept with", () => {
    const { program, versions, remove } = Releases.unpack(name)
    onTestFinished(remove)
    const told: unknown = JSON.parse(
      execFileSync(process.execPath, [program, "--version", "--json"], { encoding: "utf8" }),
    )
    expect(told).toEqual(versions)
  })
})

it("each kept release takes at most two megabytes", () => {
  const folder = resolve(import.meta.dirname, "../fixtures/releases")
  const sizes = readdirSync(folder).map((file) => statSync(join(folder, file)).size)
  expect(sizes.length).toBeGreaterThan(0)
  expect(Math.max(...sizes)).toBeLessThan(MOST_BYTES)
})
