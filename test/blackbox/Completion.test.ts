/** Tests completions in the shells themselves. Every machine that runs the tests has bash. */
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { program } from "./Running.js"
import { Person } from "./wallet/Person.js"

const folder = TemporaryFolder.forTests("completion")

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
    expect(offered("udg", "help", "se")).toEqual(["send", "set-commission"])
    expect(offered("udg", "db", "")).toEqual(["verify", "export", "import", "prune"])
    expect(offered("udg", "completion", "")).toEqual(["bash", "zsh", "fish"])
  })

  it("offers files where a file is expected, and nothing where any text is", () => {
    expect(offered("udg", "send", "--key", "/etc/host")).toContain("/etc/hosts")
    expect(offered("udg", "multisig", "sign", "/etc/host")).toContain("/etc/hosts")
    expect(offered("udg", "send", "--memo", "")).toEqual([])
    expect(offered("udg", "send", "")).toEqual([])
  })
})

const isThere = (shell: string): boolean => spawnSync(shell, ["-c", ":"]).error === undefined

/** A case for one shell. If the shell is not installed, the name says that the case did not run. */
const itIn = (shell: string, name: string, run: () => void | Promise<void>): void => {
  if (isThere(shell)) it(name, run)
  else it.skip(`${name} (not run: ${shell} is not installed)`)
}

describe("completion in fish", () => {
  const file = join(folder, "udg.fish")
  const inFish = script("fish")
  beforeAll(() => writeFileSync(file, inFish))

  /** What fish offers at the end of this line, without descriptions. */
  const offers = (line: string): ReadonlyArray<string> => {
    const ask = `source ${file}; complete -C '${line}'`
    const { status, stdout, stderr } = spawnSync("fish", ["--no-config", "-c", ask], { encoding: "utf8" })
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    return stdout
      .trimEnd()
      .split("\n")
      .map((each) => each.replace(/\t.*/, ""))
  }

  itIn("fish", "offers commands, their options and the words that arguments and options may be", () => {
    expect(offers("udg se")).toEqual(["send", "set-commission"])
    expect(offers("udg help se")).toEqual(["send", "set-commission"])
    expect(offers("udg db ")).toEqual(["export", "import", "prune", "verify"])
    expect(offers("udg vote 1 ")).toEqual(["no", "yes"])
    expect(offers("udg send --no")).toEqual(["--node", "--nonce", "--no-wait"])
    expect(offers("udg --rate-limits ")).toEqual(["off", "on"])
    expect(offers("udg send --key /etc/host")).toContain("/etc/hosts")
  })
})

describe("completion in zsh", () => {
  const person = new Person({})
  afterAll(() => person.leave())
  writeFileSync(join(person.home, "udg.zsh"), script("zsh"))

  /** Types these keys at a prompt and waits for this on the screen. */
  const typing = async (keys: string, sight: RegExp): Promise<void> => {
    const terminal = person.sit("exec zsh -f -i")
    terminal.type("PS1='> '; autoload -Uz compinit; compinit -u -D; source udg.zsh; print rea''dy\n")
    await terminal.see(/^ready$/m)
    terminal.type(keys)
    await terminal.see(sight)
    // Ctrl-U empties the line.
    terminal.type("\u0015exit\n")
    await terminal.end()
  }

  itIn("zsh", "offers commands, their options and the words that arguments and options may be", async () => {
    await Promise.all([
      typing("udg se\t", /^send +-- pays an account[\s\S]*^set-commission +-- /m),
      typing("udg help se\t", /^send +-- pays an account[\s\S]*^set-commission +-- /m),
      typing("udg db pr\t", /udg db prune $/m),
      typing("udg vote 1 y\t", /udg vote 1 yes $/m),
      typing("udg send --no\t", /^--no-wait +-- /m),
      typing("udg send --key /etc/passw\t", /\/etc\/passwd/),
    ])
  })
})

describe(Rest.of("a shell for each option", "completion in zsh and fish"), () => {
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
})
