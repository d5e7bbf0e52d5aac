/** The whole site: its files by path, made from the repository's pages and from the code. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"
import * as OpenApiDocument from "../../src/rpc/documents/OpenApiDocument.js"
import * as Address from "./Address.js"
import { COMMANDS, contents, DECISIONS, ENDPOINTS, METRICS, VECTORS } from "./Contents.js"
import * as Generated from "./Generated.js"
import * as Layout from "./Layout.js"
import type { Files } from "./Links.js"
import * as Llms from "./Llms.js"
import * as Markdown from "./Markdown.js"
import type { Entry } from "./Search.js"
import { synonyms } from "./Synonyms.js"

const root = join(import.meta.dirname, "../..")
const textOf = (file: string): string => readFileSync(join(root, file), "utf8")

const below = (folder: string, end: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(end))
    .sort()

const written = (): ReadonlyMap<string, Markdown.Page> =>
  new Map(
    ["README.md", "CONTRIBUTING.md", ...below("docs", ".md").map((file) => `docs/${file}`)].map((file) => [
      file,
      Markdown.page(file, textOf(file)),
    ]),
  )

const listings = (pages: ReadonlyMap<string, Markdown.Page>): ReadonlyArray<readonly [string, Markdown.Page]> => [
  [
    DECISIONS,
    Generated.listing(
      DECISIONS,
      "Decisions",
      "What was decided, why, and what else was weighed.",
      [...pages].flatMap(([file, { title }]) =>
        file.startsWith(`${DECISIONS}/`) ? [[file.slice(DECISIONS.length + 1), title] as const] : [],
      ),
    ),
  ],
  [
    VECTORS,
    Generated.listing(
      VECTORS,
      "Test vectors",
      "What another implementation of [the protocol](protocol.md) must get byte for byte.",
      below(VECTORS, ".json").map((file) => [file, file] as const),
    ),
  ],
]

/** Linked files that are not pages: shown as text, or copied if they are binary. */
const linked = (pages: ReadonlyMap<string, Markdown.Page>): ReadonlyArray<string> =>
  [...new Set([...pages.values()].flatMap(({ targets }) => targets))].filter(
    (file) => !pages.has(file) && statSync(join(root, file), { throwIfNoEntry: false })?.isFile() === true,
  )

const bundle = async (): Promise<string> => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["scripts/docs/page.ts"],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: "es2022",
  })
  return outputFiles[0]?.text ?? ""
}

const entriesOf = (pages: ReadonlyMap<string, Markdown.Page>): ReadonlyArray<Entry> =>
  [...pages].flatMap(([file, { title, sections }]) =>
    sections.map(({ anchor, text, words, depth }) => {
      const address = `${Address.of(file)}${depth === 1 ? "" : `#${anchor}`}`
      const also = synonyms[address]
      return { address, page: title, title: text, words, ...(also === undefined ? {} : { also: also.join(" ") }) }
    }),
  )

/** Synonyms whose target does not exist. */
const unplaced = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => {
  const places = new Set(entries.map(({ address }) => address))
  return Object.keys(synonyms).filter((address) => !places.has(address))
}

/** Pages missing from the menu, and menu entries without a page. */
const misplaced = (pages: ReadonlyMap<string, Markdown.Page>): ReadonlyArray<string> => {
  const inMenu = contents.flatMap((group) => group.pages)
  return [
    ...[...pages.keys()].filter((file) => !inMenu.includes(file) && !file.startsWith(`${DECISIONS}/`)),
    ...inMenu.filter((file) => !pages.has(file)),
  ]
}

export interface Site {
  readonly files: Files
  readonly entries: ReadonlyArray<Entry>
  readonly misplaced: ReadonlyArray<string>
  readonly unplaced: ReadonlyArray<string>
}

const version = (): string => (JSON.parse(textOf("package.json")) as { readonly version: string }).version

const described = (): OpenApiDocument.Document =>
  OpenApiDocument.make(version(), [{ url: "http://127.0.0.1:10333", description: "a node on this machine" }])

/** All pages by file. */
export const pages = async (document = described()): Promise<ReadonlyMap<string, Markdown.Page>> => {
  const found = written()
  return new Map([
    ...found,
    ...listings(found),
    [COMMANDS, await Generated.commands(version())],
    [ENDPOINTS, Generated.endpoints(document)],
    [METRICS, Generated.metrics()],
  ])
}

export const make = async (): Promise<Site> => {
  const document = described()
  const all = await pages(document)
  const titles = new Map([...all].map(([file, { title }]) => [file, title]))
  const menu = contents.map((group) => ({ ...group, titles }))
  const files = new Map<string, string | Uint8Array>([
    ["page.css", textOf("scripts/docs/page.css")],
    ["page.js", await bundle()],
    ["llms.txt", Llms.text(all)],
    ["docs/openapi.json", JSON.stringify(document, null, 2)],
  ])
  for (const [file, page] of all) {
    files.set(Address.of(file), Layout.render(file, page, menu))
    if (page.source !== undefined) files.set(Address.ofText(file), page.source)
  }
  for (const file of linked(all)) {
    const isCopied = Address.of(file) === file
    if (isCopied) files.set(file, readFileSync(join(root, file)))
    else files.set(Address.of(file), Layout.render(file, Generated.source(file, textOf(file)), menu))
  }
  const entries = entriesOf(all)
  files.set("search-index.js", `window.udgEntries=${JSON.stringify(entries)}`)
  return { files, entries, misplaced: misplaced(all), unplaced: unplaced(entries) }
}
