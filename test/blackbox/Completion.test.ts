/** What the shells complete. bash is on every machine that tests; the others are held to the same words. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { program } from "./Running.js"

const folder = mkdtempSync(join(tmpdir(), "udg-completion-"))
afterAll(() => rmSync(folder, { recursive: true }))

const script = (shell: string): string => {
  const { status, stdout } = spawnSync(process.execPath, [program, "completion", shell], { encoding: "utf8" })
  expect(status).toBe(0)
  return stdout
}

const inBash = script("bash")

/** What bash offers for the last of these words. */
const offered = (...words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _udg; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync("bash", ["-c", `${inBash}\n${ask}`, "bash", ...words], { encoding: "utf8" })
  expect(stderr).toBe("")
  return stdout.split("\n").filter((line) => line !== "")
}

describe("completion in bash", () => {
  it("offers commands, the options of each, and the words an argument or an option may be", () => {
    expect(offered("udg", "se")).toEqual(["send", "set-commission"])
    expect(offered("udg", "un")).toEqual(["unstake", "undelegate"])
    expect(offered("udg", "--rp")).toEqual(["--rpc-port", "--rpc-host", "--rpc-name"])
    expect(offered("udg", "send", "--n")).toEqual(["--nonce", "--network", "--no-wait", "--node"])
    expect(offered("udg", "vote", "1", "")).toEqual(["yes", "no"])
    expect(offered("udg", "multisig", "su")).toEqual(["submit"])
    expect(offered("udg", "--rate-limits", "o")).toEqual(["on", "off"])
    expect(offered("udg", "completion", "")).toEqual(["bash", "zsh", "fish"])
  })

  it("offers files where a file is meant, and nothing where anything may stand", () => {
    expect(offered("udg", "send", "--key", "/etc/host")).toContain("/etc/hosts")
    expect(offered("udg", "multisig", "sign", "/etc/host")).toContain("/etc/hosts")
    expect(offered("udg", "send", "--memo", "")).toEqual([])
    expect(offered("udg", "send", "")).toEqual([])
  })
})

describe("completion in zsh and fish", () => {
  const commands = offered("udg", "")

  it.each(["zsh", "fish"])("%s knows the same commands and their options", (shell) => {
    const text = script(shell)
    expect(commands.length).toBeGreaterThan(20)
    for (const command of commands) {
      expect(text).toContain(shell === "zsh" ? `'${command}:` : `-a ${command} -d `)
      for (const option of offered("udg", command, "--")) {
        expect(text).toContain(shell === "zsh" ? `${option}[` : `-l ${option.slice(2)} `)
      }
    }
  })

  it.each(["zsh", "fish"])("%s reads it, where it is installed", (shell) => {
    const file = join(folder, shell)
    writeFileSync(file, script(shell))
    const { error, status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" })
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    else expect(error).toMatchObject({ code: "ENOENT" })
  })
})
