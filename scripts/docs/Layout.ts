/** The frame of every page: navigation, search, and the page's headings. */
import { posix } from "node:path"
import * as Address from "./Address.js"
import type { Group } from "./Contents.js"
import { escaped, type Page, summaryOf } from "./Markdown.js"

/** A group of the menu with its pages' titles. */
export interface Menu extends Group {
  readonly titles: ReadonlyMap<string, string>
}

/** The explorer's logo. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true"><g stroke="#16837a" stroke-width="2.4"><path d="M7 8 25 16M7 24 25 16M7 8v16"/></g><g fill="#16837a"><circle cx="7" cy="8" r="4"/><circle cx="7" cy="24" r="4"/><circle cx="25" cy="16" r="5.5"/></g></svg>'
const ICON = `data:image/svg+xml,${encodeURIComponent(MARK)}`

const link = (from: string, to: string, title: string, isHere = false): string =>
  `<a href="${escaped(Address.between(from, to))}"${isHere ? ' aria-current="page"' : ""}>${escaped(title)}</a>`

const menuOf = (file: string, menu: ReadonlyArray<Menu>): string =>
  menu
    .map(({ title, pages, titles }) => {
      const rows = pages.map((page) => `<li>${link(file, page, titles.get(page) ?? page, page === file)}</li>`)
      return `<h2>${escaped(title)}</h2><ul>${rows.join("")}</ul>`
    })
    .join("")

/** The headings below the title; only the upper levels if there are many. */
const here = ({ sections }: Page): string => {
  const below = sections.filter(({ depth }) => depth === 2 || depth === 3)
  const shown = below.length > 24 ? below.filter(({ depth }) => depth === 2) : below
  if (shown.length < 2) return ""
  const rows = shown.map(
    ({ anchor, text, depth }) =>
      `<li><a href="#${anchor}"${depth === 3 ? ' class="deep"' : ""}>${escaped(text)}</a></li>`,
  )
  return `<h2>On this page</h2><ul>${rows.join("")}</ul>`
}

const neighbours = (file: string, menu: ReadonlyArray<Menu>): string => {
  const all = menu.flatMap(({ pages, titles }) => pages.map((page) => [page, titles.get(page) ?? page] as const))
  const at = all.findIndex(([page]) => page === file)
  if (at < 0) return ""
  const [before, after] = [all[at - 1], all[at + 1]]
  return [
    '<nav class="next" aria-label="Neighbours">',
    before === undefined ? "<span></span>" : link(file, before[0], `← ${before[1]}`),
    after === undefined ? "<span></span>" : link(file, after[0], `Next: ${after[1]} →`),
    "</nav>",
  ].join("")
}

/** For programs that prefer Markdown. */
const alternate = (file: string): string => {
  const to = posix.relative(posix.dirname(Address.of(file)), Address.ofText(file))
  return `<link rel="alternate" type="text/markdown" href="${escaped(to)}">`
}

export const render = (file: string, page: Page, menu: ReadonlyArray<Menu>): string => {
  const top = Address.toTop(file)
  const text = page.source === undefined ? "" : alternate(file)
  const title = page.title === "udg" ? "udg" : `${page.title} – udg`
  return [
    `<!doctype html><html lang="en" data-top="${top}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<meta name="description" content="${escaped(summaryOf(page))}">`,
    `<title>${escaped(title)}</title><link rel="icon" href="${ICON}">${text}<link rel="stylesheet" href="${top}page.css"></head><body>`,
    '<a class="skip" href="#content">To the text</a>',
    `<header><a href="${top}index.html">${MARK}udg <span class="wide">documentation</span></a>`,
    '<div class="search"><input id="search" type="search" placeholder="Search…  /" aria-label="Search the documentation" hidden autocomplete="off">',
    '<div id="results" role="region" aria-label="What was found" hidden></div></div></header>',
    '<div class="columns"><nav class="side" aria-label="All pages"><details id="menu" open><summary>All pages</summary>',
    `${menuOf(file, menu)}</details></nav>`,
    `<main id="content">${page.html}${neighbours(file, menu)}</main>`,
    `<nav class="here" aria-label="On this page">${here(page)}</nav></div>`,
    `<script src="${top}page.js"></script></body></html>`,
  ].join("\n")
}
