/**
 * One name for one thing: the program and the pages use no word of the glossary's last column, and "quorum" only for
 * consensus.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as NodeCommand from "../../src/cli/NodeCommand.js"
import * as Help from "../../src/cli/settings/Help.js"
import * as Udg from "../../src/cli/Udg.js"
import * as OpenApiDocument from "../../src/rpc/documents/OpenApiDocument.js"
import * as ReferenceText from "../../src/rpc/documents/ReferenceText.js"
import * as Catalogue from "../../src/rpc/metrics/Catalogue.js"
import { pages, root, textOf } from "./Pages.js"

const PAGE = "docs/glossary.md"

const rows = textOf(PAGE)
  .split("\n")
  .filter((line) => /^\| (?!term |-)/.test(line))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )

const terms = rows.map(([term = ""]) => term)
const others = rows.flatMap(([, , not = ""]) => not.split(", ").filter((word) => word !== ""))

/** The words of the last column in a text, except in code. */
const foreignIn = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/```[\s\S]*?```|`[^`\n]*`|^ {4}.*$/gm, "")
    .split("\n")
    .flatMap((line) =>
      others
        .filter((word) => new RegExp(`(?<![\\w-])${word}s?(?![\\w-])`, "i").test(line))
        .map((word) => `${word}: ${line.trim()}`),
    )

/** The texts of a source file: string literals of several words, and the text of JSX elements. */
const saidIn = (source: string): ReadonlyArray<string> =>
  [
    ...source
      .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|class="[^"]*"/gm, "")
      .matchAll(/"([^"\n]*)"|`([^`]*)`|>([^<>{}=;()]+)</g),
  ]
    .flatMap((match) => match.slice(1).filter((text) => text !== undefined))
    .map((text) => text.replaceAll(/\$\{[^}]*\}/g, "…"))
    .filter((text) => / /.test(text))

const filesIn = (folder: string, ending: RegExp): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => ending.test(file))
    .map((file) => join(folder, file))

type Texts = (text: string) => ReadonlyArray<string>

const foreign = (files: ReadonlyArray<string>, read: Texts, find: Texts) =>
  files.flatMap((file) =>
    read(textOf(file))
      .flatMap(find)
      .map((found) => `${file}: ${found}`),
  )

const foreignInFiles = (files: ReadonlyArray<string>, read: Texts) => foreign(files, read, foreignIn)

describe(PAGE, () => {
  it("has each term once, and no two names for one thing", () => {
    expect(terms.length).toBeGreaterThan(40)
    expect(rows.filter((row) => row.length !== 3)).toEqual([])
    expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([])
    expect(others.filter((word, i) => others.indexOf(word) !== i || terms.includes(word))).toEqual([])
  })

  it("finds a synonym, but none in code", () => {
    expect(foreignIn("the gas\n`gas` and\ngases\n```\nmined\n```\nunconfirmed.")).toEqual([
      "gas: the gas",
      "unconfirmed: unconfirmed.",
    ])
  })

  it("finds a synonym in a source file's texts, and not in its code", () => {
    const source =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a source file as a text
      'const gas = "no gas left" // gas\nconst a = `the fee of ${gas} is gas`\n<p class="gas x">pay gas</p>'
    expect(saidIn(source).flatMap(foreignIn)).toEqual(["gas: no gas left", "gas: the fee of … is gas", "gas: pay gas"])
  })
})

/** Paragraphs and list items that use "quorum" for the turnout of a vote. */
const quorumsOfVotes = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/```[\s\S]*?```|`[^`\n]*`|^ {4}.*$/gm, "")
    .split(/\n\n|\n(?=[-|#])/)
    .filter((part) => /\bquorums?\b/i.test(part) && /\b(?:proposals?|bond|approval|turnout)\b|\d\s?%/i.test(part))
    .map((part) => part.trim())

describe("the term quorum", () => {
  it("is found where it describes a vote", () => {
    const text = "A quorum signed.\n- lost without a quorum of 34 %\n- `quorum_percent` of the bond"
    expect(quorumsOfVotes(text)).toEqual(["- lost without a quorum of 34 %"])
  })

  it("is used only for consensus on the pages", () => {
    expect(foreign(pages, (text) => [text], quorumsOfVotes)).toEqual([])
  })

  it("is used only for consensus in the program", () => {
    const strings = (source: string) => saidIn(source.replaceAll(/[<>]/g, " "))
    expect(foreign(filesIn("src", /\.ts$/), strings, quorumsOfVotes)).toEqual([])
    expect(foreign(filesIn("src/explorer", /\.tsx$/), saidIn, quorumsOfVotes)).toEqual([])
  })
})

describe("the words of the glossary are those of", () => {
  it("the help", async () => {
    const pages = [NodeCommand.command, ...(await Udg.commands())].map((command) =>
      Help.render(command.page(""), false),
    )
    expect(pages.flatMap(foreignIn)).toEqual([])
  })

  it("the reference of the HTTP interface", () => {
    expect(foreignIn(ReferenceText.text(OpenApiDocument.make("0.0.0")))).toEqual([])
  })

  it("the metrics", () => {
    expect([...Catalogue.all, ...Catalogue.ofGatewayAlone].flatMap(({ help }) => foreignIn(help))).toEqual([])
  })

  it.each(["cli", "client", "edge", "ledger", "light", "network", "node", "rpc/api", "signer", "testing"])(
    "the texts of src/%s: prompts, errors and log lines",
    (folder) => {
      const strings = (source: string) => saidIn(source.replaceAll(/[<>]/g, " "))
      expect(foreignInFiles(filesIn(`src/${folder}`, /\.ts$/), strings)).toEqual([])
    },
  )

  it("the explorer", () => {
    expect(foreignInFiles(filesIn("src/explorer", /\.tsx?$/), saidIn)).toEqual([])
  })

  it("the pages for users", () => {
    const pages = ["getting-started", "cli", "explorer", "configuration"].map((page) => `docs/${page}.md`)
    expect(foreignInFiles([...pages, ...filesIn("docs/tutorials", /\.md$/)], (text) => [text])).toEqual([])
  })
})
