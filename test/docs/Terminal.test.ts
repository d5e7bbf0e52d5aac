/**
 * Types every line of the `console` blocks on some pages, and compares the shape of the output with the page.
 * UDG_REWRITE_DOCS=1 writes the output into the page instead.
 */
import { symlinkSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { exitCodes } from "../../src/cli/wallet/Verb.js"
import { verbs } from "../../src/cli/wallet/Wallet.js"
import { program, Running } from "../blackbox/Running.js"
import { PASSPHRASE, Person } from "../blackbox/wallet/Person.js"
import * as Rest from "../support/Rest.js"
import { root, textOf } from "./Pages.js"
import { rewritten, shapeOf, stepsOf, type Typed } from "./Typed.js"

const isRewriting = process.env["UDG_REWRITE_DOCS"] === "1"

const storyOf = (file: string): ReadonlyArray<Typed> =>
  stepsOf(file).flatMap((step) => ("typed" in step ? [step.typed] : []))

/** The terminal's width, which the output must fit. */
const COLUMNS = 80

const ENTER = "\r"
const PROMPT = /[Pp]assphrase[^\n]*: $/

let node: Running
let operator: Person

/** Waits for a checkpoint, because only what it covers is proven. */
const untilCheckpointOfNow = async (url: string): Promise<void> => {
  const metric = async (name: string): Promise<number> => (await (await fetch(`${url}/metrics/json`)).json())[name]
  const round = await metric("finalized_round")
  await expect.poll(() => metric("checkpoint_latest")).toBeGreaterThanOrEqual(round)
}

/** Types a line at a terminal, and the passphrase at each prompt. */
const type = async (line: string, person: Person): Promise<string> => {
  const url = /^ {2}rpc +(\S+)$/m.exec(node.stdout)?.[1] ?? ""
  if (line.includes("--verify")) await untilCheckpointOfNow(url)
  const terminal = person.sit(`stty columns ${COLUMNS}; ${line}`, { UDG_NODE: url })
  await terminal.answer(PROMPT, `${PASSPHRASE}${ENTER}`)
  return terminal.screen
    .trimEnd()
    .replaceAll(/ +$/gm, "")
    .replaceAll(person.home, "/home/you")
    .replaceAll(url, "http://127.0.0.1:10333")
}

/** Types all lines as a user whose home has only the node's directory, and returns the outputs. */
const typedAnew = async (story: ReadonlyArray<Typed>): Promise<ReadonlyArray<Typed>> => {
  const person = new Person({})
  symlinkSync(join(operator.home, "data"), join(person.home, "data"))
  try {
    const seen: Array<Typed> = []
    for (const { line } of story) seen.push({ line, shown: await type(line, person) })
    return seen
  } finally {
    person.leave()
  }
}

describe("docs/cli.md", () => {
  it("names every verb and every exit code", () => {
    const page = textOf("docs/cli.md").replaceAll(/ +/g, " ")
    const rows = page.split("\n").filter((line) => line.startsWith("|"))
    const named = rows.flatMap((row) => [...row.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name))
    expect(named.toSorted()).toEqual(verbs.map(({ name }) => name).toSorted())
    for (const [code, about] of exitCodes) expect(page).toContain(`| ${code} | ${about} |`)
  })
})

/** A value of one word to copy, such as a signature, which stays on one line. */
const isOneValue = (line: string): boolean => /^[a-z ]+ {2}\S+$/.test(line)

const showsWhatATerminalShows = async (file: string, least: number): Promise<void> => {
  const story = storyOf(file)
  expect(story.length).toBeGreaterThan(least)
  const seen = await typedAnew(story)
  const shown = seen.flatMap((each) => each.shown.split("\n"))
  expect(shown.filter((line) => line.length > COLUMNS && !isOneValue(line))).toEqual([])
  if (isRewriting) return writeFileSync(resolve(root, file), rewritten(file, seen))
  for (const [i, { line, shown }] of seen.entries()) {
    expect(`$ ${line}\n${shapeOf(shown)}`).toBe(`$ ${line}\n${shapeOf(story[i]?.shown ?? "")}`)
  }
}

describe(Rest.of("thirty programs one after the other", "a page of commands"), () => {
  beforeAll(async () => {
    operator = new Person({})
    node = new Running(process.execPath, [
      program,
      ...["--data-dir", join(operator.home, "data"), "--host", "127.0.0.1", "--port", "0"],
      ...["--round-ms", "200", "--rate-limits", "off"],
    ])
    await node.until(() => / {2}data directory/.test(node.stdout))
  })
  afterAll(async () => {
    await node.stop()
    operator.leave()
  })

  it.each([
    ["docs/getting-started.md", 6],
    ["docs/cli.md", 15],
    ["docs/tutorials/wallet.md", 6],
  ] as const)("%s shows what a terminal shows", { timeout: 300_000 }, showsWhatATerminalShows)
})
