/** `npm run check` on lock files with planted vulnerabilities. */
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { beforeEach, describe, expect, it } from "vitest"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

let folder = ""
beforeEach(() => {
  folder = TemporaryFolder.forTest("advisories")
})

const repository = resolve(import.meta.dirname, "../..")
const file = (name: string): string => join(folder, name)

interface Planted {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly name?: string }>>
  readonly advisories?: ReadonlyArray<Readonly<Record<string, string>>>
}

const check = ({ packages, advisories }: Planted) => {
  writeFileSync(file("lock.json"), JSON.stringify({ packages: { "": { version: "0.1.0" }, ...packages } }))
  writeFileSync(file("list.json"), JSON.stringify(advisories ?? []))
  const list = advisories === undefined ? "ops/advisories.json" : file("list.json")
  const words = ["scripts/advisories.mjs", list, file("lock.json")]
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: repository, encoding: "utf8" })
  return { status, said: stderr.trimEnd().split("\n") }
}

const advisory = (range: string, more: Readonly<Record<string, string>> = {}) => ({
  ...{ package: "leaky", range, id: "CVE-0", summary: "It leaks", action: "update to 2.0.0 or later" },
  ...more,
})

const isRefused = (version: string, range: string): boolean =>
  check({ packages: { "node_modules/leaky": { version } }, advisories: [advisory(range)] }).status === 1

describe("the dependency check", () => {
  it("finds nothing in the lock file of this repository", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/advisories.mjs"], { cwd: repository })
    expect([status, String(stderr)]).toEqual([0, ""])
  })

  it("names a vulnerable version, however deep, and the remedy", () => {
    const { status, said } = check({ packages: { "node_modules/a/node_modules/@libp2p/crypto": { version: "5.1.8" } } })
    expect(status).toBe(1)
    expect(said).toContainEqual(
      expect.stringMatching(
        /^advisories: node_modules\/a\/node_modules\/@libp2p\/crypto 5\.1\.8 is vulnerable \(CVE-2026-110789: .*\); update to 5\.1\.23 or later$/,
      ),
    )
  })

  it("recognises a package under an alias", () => {
    const packages = { "node_modules/other": { name: "leaky", version: "1.0.0" } }
    expect(check({ packages, advisories: [advisory("<2.0.0")] }).status).toBe(1)
  })

  it.each([
    ["1.9.9", "<2.0.0", true],
    ["2.0.0", "<2.0.0", false],
    ["2.0.0-beta.1", "<2.0.0", true],
    ["10.0.0", "<9.0.0", false],
    ["1.2.3", ">=1.0.0 <1.2.3", false],
    ["1.2.2", ">=1.0.0 <1.2.3", true],
    ["0.9.0", ">=1.0.0 <1.2.3 || <=0.9.0", true],
    ["3.0.0", "=3.0.0", true],
    ["3.0.1", "=3.0.0", false],
  ])("%s within %s: %s", (version, range, expected) => {
    expect(isRefused(version, range)).toBe(expected)
  })

  it("accepts an exception with its reason, and refuses it once it is obsolete", () => {
    const accepted = advisory("<2.0.0", { accepted: "a guard stands before it" })
    const of = (version: string) => check({ packages: { "node_modules/leaky": { version } }, advisories: [accepted] })
    expect(of("1.0.0").status).toBe(0)
    expect(of("2.0.0")).toEqual({ status: 1, said: [expect.stringMatching(/remove "accepted"/)] })
  })

  it("does not ignore a range that it cannot read", () => {
    const packages = { "node_modules/leaky": { version: "1.0.0" } }
    expect(check({ packages, advisories: [advisory("^1.0.0")] }).status).toBe(1)
  })
})
