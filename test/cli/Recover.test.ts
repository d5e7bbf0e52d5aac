import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeEach, describe, expect, it } from "vitest"
import { udg } from "../blackbox/InProcess.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"

let directory = ""
beforeEach(() => {
  directory = TemporaryFolder.forTest("recover")
  writeFileSync(join(directory, "genesis.json"), "{}")
})

const recover = (...words: ReadonlyArray<string>) => udg("recover", "--data-dir", directory, ...words)

describe("udg recover", () => {
  it("shows an unreadable mark without an invented time, and removes it", async () => {
    const mark = join(directory, "halted.json")
    execFileSync("mkfifo", [mark])
    const { code, stdout } = await recover()
    expect(code).toBe(1)
    expect(stdout).toContain(`${mark} cannot be read: not a regular file`)
    expect(stdout).not.toMatch(/1970|ended with/)
    expect(await recover("--yes")).toMatchObject({ code: 0, stderr: "" })
    expect(existsSync(mark)).toBe(false)
  })

  it("refuses in one line to remove a directory", async () => {
    const mark = join(directory, "halted.json")
    mkdirSync(mark)
    const { code, stderr } = await recover("--yes")
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^udg: .*halted\.json cannot be removed \(.*\); .*\n$/)])
    expect(existsSync(mark)).toBe(true)
  })
})
