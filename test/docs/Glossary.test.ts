/** One name for one thing: the program calls nothing by a word that docs/glossary.md has in its last column. */
import { describe, expect, it } from "vitest"
import * as NodeCommand from "../../src/cli/NodeCommand.js"
import * as Help from "../../src/cli/settings/Help.js"
import * as Udg from "../../src/cli/Udg.js"
import * as OpenApiDocument from "../../src/rpc/documents/OpenApiDocument.js"
import * as ReferenceText from "../../src/rpc/documents/ReferenceText.js"
import * as Catalogue from "../../src/rpc/metrics/Catalogue.js"
import { textOf } from "./Pages.js"

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

/** The words of the last column that a text has, other than in code. */
const foreignIn = (text: string): ReadonlyArray<string> =>
  text
    .replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "")
    .split("\n")
    .flatMap((line) =>
      others.filter((word) => new RegExp(`\\b${word}s?\\b`, "i").test(line)).map((word) => `${word}: ${line.trim()}`),
    )

describe(PAGE, () => {
  it("has each term once, and calls nothing by two names", () => {
    expect(terms.length).toBeGreaterThan(40)
    expect(rows.filter((row) => row.length !== 3)).toEqual([])
    expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([])
    expect(others.filter((word, i) => others.indexOf(word) !== i || terms.includes(word))).toEqual([])
  })

  it("finds a word that another thing is called by, and none in code", () => {
    expect(foreignIn("the gas\n`gas` and\ngases\n```\nmined\n```\nunconfirmed.")).toEqual([
      "gas: the gas",
      "unconfirmed: unconfirmed.",
    ])
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
})
