/**
 * A test covers each row of the table "If you know anvil", and each action of `udg dev` has a row in the table of
 * controls.
 */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as DevVerbs from "../../src/cli/DevVerbs.js"
import { textOf } from "./Pages.js"

const page = textOf("docs/dev.md")

/** The cells of the table under this heading. */
const rowsUnder = (heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, section = ""] = page.split(`\n## ${heading}\n`)
  return (section.split("\n## ")[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

const DEV = "test/blackbox/Dev.test.ts"
const TESTING = "test/testing/DevNetwork.test.ts"

/** The test for each row, and the code in it that performs the action. */
const DONE: ReadonlyMap<string, readonly [file: string, test: string, words: RegExp]> = new Map([
  ["`anvil`", [DEV, "shows accounts with the same keys every time", /\[program, "dev"/]],
  ["`--accounts`, `--mnemonic`", [DEV, "shows the words of its keys", /"--mnemonic"[\s\S]*"--accounts", "3"/]],
  ["`--block-time 1`", [DEV, "advances, reverts and funds accounts", /"--round-ms", "10"/]],
  ["a block for each transaction", [TESTING, "make no rounds on demand", /onDemand: true/]],
  ["`--no-mining`", [DEV, "leaves transactions pending in manual mode", /"--manual"/]],
  ["`--port`", [DEV, "refuses another network's genesis or data", /"--rpc-port", "65535"/]],
  ["`--state FILE`", [DEV, "resumes in another run", /"--state", file/]],
  ["`--allow-origin`", [DEV, "answers a page of an allowed origin", /"--allow-origin", PAGE/]],
  ["`anvil_mine`, `hardhat_mine`", [DEV, "is controlled from the command line", /verb\("advance", "20"\)/]],
  ["`evm_increaseTime`", [DEV, "is controlled from the command line", /verb\("advance-time", "1d"\)/]],
  [
    "`evm_snapshot`, `evm_revert`",
    [DEV, "is controlled from the command line", /verb\("snapshot"\)[\s\S]*verb\("revert"/],
  ],
  ["`anvil_setBalance`", [DEV, "is controlled from the command line", /verb\("set-balance", "@alice", "5000"\)/]],
  ["`anvil_setNonce`", [DEV, "is controlled from the command line", /verb\("set-nonce", "@alice", "150"\)/]],
  [
    "`anvil_dumpState`, `anvil_loadState`",
    [DEV, "is controlled from the command line", /verb\("dump"[\s\S]*verb\("load"/],
  ],
  ["`anvil_nodeInfo`", [DEV, "is controlled from the command line", /verb\("status"\)/]],
  [
    "`anvil_impersonateAccount`",
    [DEV, "is controlled from the command line", /"impersonate", "--controls"|"impersonate",\n/],
  ],
  ["`--fork-url`", [DEV, "forks a network whose state was exported", /"--fork", file/]],
])

const source = (file: string): string => readFileSync(file, "utf8")

describe("the table for those who know anvil", () => {
  const rows = rowsUnder("If you know anvil")

  it("has a test for each row", () => {
    expect(rows.map(([anvil]) => anvil)).toEqual([...DONE.keys()])
    expect(rows.filter(([, ours = ""]) => /not there|none/.test(ours))).toEqual([])
  })

  it.each([...DONE])("agrees with the test of %s", (_, [file, test, words]) => {
    const text = source(file)
    const name = test.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    expect(text).toMatch(new RegExp(`it\\(\\s*(?:Rest\\.of\\(\\s*"[^"]*",\\s*)?"${name}`))
    expect(text).toMatch(words)
  })
})

describe("the table of controls", () => {
  const actions = rowsUnder("Controls")

  it("has each action of udg dev, each called by a test of the command line", () => {
    const named = actions.map(([action = ""]) => /^`udg dev ([a-z-]+)/.exec(action)?.[1] ?? action)
    expect([...named].sort()).toEqual([...DevVerbs.verbs.keys()].sort())
    const text = source(DEV)
    for (const verb of named) expect(text).toMatch(new RegExp(`verb\\("${verb}"|"dev",\\s*"${verb}"`))
  })

  it("has each path that the program serves", () => {
    const text = source("src/cli/DevControls.ts")
    for (const [, path = ""] of actions) {
      const [, plain = ""] = /^`(?:GET )?(\/[a-z]*)`$/.exec(path) ?? []
      expect(text).toContain(`"${plain}"`)
    }
  })
})
