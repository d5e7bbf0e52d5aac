import { describe, expect, it } from "vitest"
import { complaint, linksOf, missingFiles, pages, textOf } from "./Pages.js"

describe("the pages", () => {
  it("link to existing files and headings", () => {
    const links = pages.flatMap((page) => linksOf(textOf(page)).map((target) => complaint(page, target)))
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter((found) => found !== undefined)).toStrictEqual([])
  })

  it("name existing files", () => {
    expect(pages.flatMap((page) => missingFiles(textOf(page)).map((file) => `${page}: ${file}`))).toStrictEqual([])
  })

  it("can all be reached from the README", () => {
    const reached = new Set(["README.md"])
    for (const page of reached) {
      for (const target of linksOf(textOf(page))) {
        const [path = ""] = target.split("#")
        const file = new URL(path, `file:///${page}`).pathname.slice(1)
        for (const found of pages.filter((other) => other === file || other.startsWith(`${file.replace(/\/$/, "")}/`)))
          reached.add(found)
      }
    }
    expect(pages.filter((page) => !reached.has(page))).toStrictEqual([])
  })
})

/** References to a document outside the repository, unlike the model in docs/spec. Pages must name a page instead. */
const elsewhere = (text: string): ReadonlyArray<string> =>
  text.match(/.*(?:§|\b[Ss]pecification|(?<!\b(?:docs|test)\/)\b[Ss]pec\b).*/g) ?? []

it("no page refers to a specification outside the repository", () => {
  expect(pages.flatMap((page) => elsewhere(textOf(page)).map((line) => `${page}: ${line}`))).toStrictEqual([])
})

describe("the checker", () => {
  it("finds a reference to a specification, and no word that only resembles one", () => {
    const text = "as decided (§11)\nA special case.\nThe specification says so\nsee the spec.\nspecified below"
    expect(elsewhere(text)).toStrictEqual(["as decided (§11)", "The specification says so", "see the spec."])
  })

  it("finds a missing file, a missing heading and a link out of the repository", () => {
    expect(complaint("docs/storage.md", "nowhere.md")).toContain("is not there")
    expect(complaint("docs/storage.md", "#no-such")).toContain("no such heading")
    expect(complaint("README.md", "../elsewhere.md")).toContain("outside")
    expect(complaint("README.md", "docs/configuration.md#logging")).toBeUndefined()
    expect(missingFiles("`node/engine/Loop.ts` and `node/engine/Lost.ts`")).toStrictEqual(["node/engine/Lost.ts"])
    expect(linksOf("see [a](b.md), `[c](d.md)` and\n\n    [e](f.md)\n")).toStrictEqual(["b.md"])
  })
})
