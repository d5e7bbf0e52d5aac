/** Runs `npm run docs` and checks the generated site. */
import { execFile } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it } from "vitest"
import * as Address from "../../scripts/docs/Address.js"
import { contents } from "../../scripts/docs/Contents.js"
import * as Links from "../../scripts/docs/Links.js"
import * as Markdown from "../../scripts/docs/Markdown.js"
import { type Entry, over } from "../../scripts/docs/Search.js"
import * as Udg from "../../src/cli/Udg.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { pages, root } from "./Pages.js"

let said = ""
const files = new Map<string, string>()
let entries: ReadonlyArray<Entry> = []

const BINARY = /\.png$/

const html = (): ReadonlyArray<readonly [string, string]> => [...files].filter(([path]) => path.endsWith(".html"))

/** The prose of a page, without code, which may contain any character. */
const proseOf = (page: string): string =>
  Markdown.wordsOf(page.replaceAll(/<(pre|code|script|style|textarea)\b[\s\S]*?<\/\1>/g, " "))

describe(Rest.of("all pages are made", "the site"), () => {
  const folder = TemporaryFolder.forTests("docs")
  beforeAll(async () => {
    // In another process, because this one must answer Vitest on a busy machine.
    const command = ["run", "--silent", "docs", "--", "--out", join(folder, "site")]
    said = (await promisify(execFile)("npm", command, { cwd: root })).stdout
    for (const path of readdirSync(join(folder, "site"), { recursive: true, encoding: "utf8" })) {
      const file = join(folder, "site", path)
      if (/\.\w+$/.test(path)) files.set(path, BINARY.test(path) ? "" : readFileSync(file, "utf8"))
    }
    const [, index = ""] = /^window\.udgEntries=(.*)$/s.exec(files.get("search-index.js") ?? "") ?? []
    entries = JSON.parse(index)
  }, 300_000)

  it("has every page of the repository, and the generated ones", async () => {
    const expected = pages.map((page) => (page === "README.md" ? "index.html" : page.replace(/\.md$/, ".html")))
    expect(expected.filter((path) => !files.has(path))).toEqual([])
    expect(said).toContain(`${html().length} pages`)
    const commands = files.get("docs/commands.html") ?? ""
    const names = (await Udg.commands()).map(({ name }) => name)
    expect(names.filter((name) => !commands.includes(`<h2 id="udg-${name}">`))).toEqual([])
    expect(files.get("docs/endpoints.html")).toContain('<details id="core.status">')
    expect(JSON.parse(files.get("docs/openapi.json") ?? "")).toHaveProperty("openapi")
    expect(files.get("llms.txt")).toBe(files.get("docs/llms.txt") ?? readFileSync(join(root, "docs/llms.txt"), "utf8"))
    for (const [page, text] of [
      ["api", "# "],
      ["endpoints", "### GET /status"],
      ["commands", "## udg stake"],
    ]) {
      expect(files.get(`docs/${page}.md`)).toContain(text)
      expect(files.get(`docs/${page}.html`)).toContain(`type="text/markdown" href="${page}.md"`)
    }
  })

  it("has no broken link, and none out of its folder", () => {
    expect(Links.broken(files)).toEqual([])
    const plain = [...files.keys()].filter((path) => /\.html$/.test(path))
    // The same files by relative paths, from a nested page and from the top.
    expect(files.get("docs/operations/join.html")).toContain('src="../../page.js"')
    expect(files.get("index.html")).toContain('src="page.js"')
    expect(plain.flatMap((path) => (/(?:href|src)="\//.test(files.get(path) ?? "") ? [path] : []))).toEqual([])
  })

  it("loads nothing from elsewhere", () => {
    const foreign = html().flatMap(([path, page]) =>
      [...page.matchAll(/(?:src|<link[^>]*href)="(https?:[^"]*)"/g)].map(([, url]) => `${path}: ${url}`),
    )
    expect(foreign).toEqual([])
    expect(files.get("page.css")).not.toMatch(/@import|url\(/)
  })

  it("shows no raw Markdown", () => {
    const raw = /\*\*|\]\(|```|(?:^|\s)#{1,6} |\|\s*-{3}|`/
    expect(
      html().flatMap(([path, page]) => (raw.test(proseOf(page)) ? [`${path}: ${raw.exec(proseOf(page))}`] : [])),
    ).toEqual([])
  })

  it("finds words on a page, by their beginning and with a typo", () => {
    const search = over(entries)
    const first = (asked: string) => search(asked)[0]?.entry.address
    expect(first("Transactions of several keys policy")).toBeDefined()
    expect(first("commit rule")).toBe("docs/consensus.html#the-commit-rule")
    expect(first("undelegate help")).toBe("docs/commands.html#udg-undelegate")
    expect(first("POST /tx/submit")).toBe("docs/endpoints.html#transactions.submit")
    expect(search("comittee").length).toBeGreaterThan(0)
    expect(search("scrypt").map(({ entry }) => entry.address)).toContain("docs/cli.html#keys")
    expect(search("scrypt")[0]?.excerpt).toContain("scrypt")
    expect(search("xyzzy")).toEqual([])
  })

  it.each([
    ["gas", "docs/economics.html#fees"],
    ["webhook", "docs/api.html#live-events"],
    ["impersonate", "docs/dev.html#controls"],
    ["install client", "docs/client.html"],
    ["slashing", "docs/economics.html#being-a-validator"],
    ["airdrop", "docs/getting-started.html#make-an-account"],
    ["validator key", "docs/operations/keys.html"],
    ["429", "docs/errors.html"],
    ["erc20", "docs/faq.html"],
  ])("finds %s by the word that people look for", (asked, address) => {
    expect(over(entries)(asked)[0]?.entry.address).toBe(address)
  })

  it("describes each page of the menu in a sentence", () => {
    const paths = contents.flatMap(({ pages }) => pages.map(Address.of))
    expect(paths.filter((path) => !/<meta name="description" content="[^"]+\.">/.test(files.get(path) ?? ""))).toEqual(
      [],
    )
  })

  it("leads from page to page in the order of the menu", () => {
    const [first] = [/<nav class="next"[\s\S]*?<\/nav>/.exec(files.get("index.html") ?? "")?.[0]]
    expect(first).toContain('href="docs/getting-started.html"')
    expect(files.get("docs/concepts.html")).toContain('aria-current="page">Concepts in pictures')
  })
})

describe("code", () => {
  const htmlOf = (source: string): string => Markdown.page("a.md", source).html

  it("is coloured in a known language, and loses no character", () => {
    const html = htmlOf('```ts\nconst a = 1 < 2 && "b"\n```')
    expect(html).toContain('<span class="hljs-keyword">const</span>')
    expect(Markdown.wordsOf(html.replaceAll(/<\/?span[^>]*>/g, ""))).toBe('const a = 1 < 2 && "b"')
  })

  it("has its terminal comments dimmed", () => {
    expect(htmlOf("    udg dev  # ten rounds\n")).toContain('udg dev  <span class="hljs-comment"># ten rounds</span>')
  })

  it("is unchanged in unknown languages", () => {
    expect(htmlOf("```hex\n00 < ff\n```")).toBe('<pre tabindex="0"><code>00 &lt; ff</code></pre>\n')
  })
})

describe("the link checker", () => {
  it("finds a missing page, place and picture, and a link out of the site", () => {
    const page =
      '<a href="b.html"></a><a href="#x"></a><img src="c.png"><a href="/a.html"></a><a href="../a.html"></a><a href="a.html#y"></a>'
    expect(Links.broken(new Map([["a.html", `<p id="y">${page}`]]))).toEqual([
      "a.html: b.html is not there",
      "a.html: #x has no such place",
      "a.html: /a.html leaves the site",
      "a.html: ../a.html leaves the site",
      "a.html: c.png is not there",
    ])
  })
})

it("writes into a folder that git ignores", () => {
  expect(readFileSync(join(root, ".gitignore"), "utf8").split("\n")).toContain("site/")
  expect(existsSync(join(root, "scripts/docs.ts"))).toBe(true)
})
