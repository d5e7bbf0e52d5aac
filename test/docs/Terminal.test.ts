/**
 * Some pages show what a terminal shows: every `console` block is typed, line by line, and what comes back must have the
 * shape of what the page says. UDG_REWRITE_DOCS=1 puts what came back into the page instead.
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

/** Of the terminal: what is shown fits it. */
const COLUMNS = 80

const ENTER = "\r"
const PROMPT = /[Pp]assphrase[^\n]*: $/

let node: Running
let operator: Person
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
  node.signal("SIGTERM")
  await node.end()
  operator.leave()
})

/** Only what was final at a checkpoint is proven. */
const untilCheckpointOfNow = async (url: string): Promise<void> => {
  const metric = async (name: string): Promise<number> => (await (await fetch(`${url}/metrics/json`)).json())[name]
  const round = await metric("finalized_round")
  await expect.poll(() => metric("checkpoint_latest")).toBeGreaterThanOrEqual(round)
}

/** Types it at a terminal, and the passphrase wherever it is asked for. */
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

/** Somebody with an empty home, but for the node's directory, types all of it, and sees this. */
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

/** What is copied stays on one line: a value that is one word, such as a signature. */
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

const SHOWS = "%s shows what a terminal shows"
it.each([
  ["docs/getting-started.md", 6],
  ["docs/cli.md", 15],
  ["docs/tutorials/wallet.md", 6],
] as const)(Rest.of("thirty programs one after the other", SHOWS), { timeout: 300_000 }, showsWhatATerminalShows)
