/** Renders a Markdown page as HTML with the site's links. */
import { posix } from "node:path"
import highlight from "highlight.js/lib/common"
import { Marked, type Tokens } from "marked"
import * as Address from "./Address.js"

export interface Heading {
  readonly depth: number
  readonly text: string
  readonly anchor: string
}

/** A heading with the text below it: one search result. */
export interface Section extends Heading {
  readonly words: string
}

export interface Page {
  readonly title: string
  readonly html: string
  /** Its Markdown; undefined for a file that is shown as it is. */
  readonly source?: string
  readonly sections: ReadonlyArray<Section>
  /** Files of the repository that it links to. */
  readonly targets: ReadonlyArray<string>
}

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&" }

/** The words of HTML that a reader sees. */
export const wordsOf = (html: string): string =>
  html
    .replaceAll(/<\/?(?:a|b|code|em|strong)\b[^>]*>/g, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&(lt|gt|quot|amp);/g, (_, name: string) => NAMED[name] ?? "")
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, " ")
    .trim()

/** Anchors as code hosts make them, so that links work on both. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-")

const isElsewhere = (target: string): boolean => /^[a-z][a-z+.-]*:/i.test(target)

/** Highlighted code. In terminal sessions, typed lines stand out from output. */
const coloured = ({ text, lang = "" }: Tokens.Code): string => {
  if (lang === "console") return escaped(text).replaceAll(/^\$ .*$/gm, "<b>$&</b>")
  if (lang === "" || lang === "sh")
    return escaped(text).replaceAll(/(?<=^| {2})# .*$/gm, '<span class="hljs-comment">$&</span>')
  return highlight.getLanguage(lang) === undefined ? escaped(text) : highlight.highlight(text, { language: lang }).value
}

const block = (token: Tokens.Code): string => `<pre tabindex="0"><code>${coloured(token)}</code></pre>\n`

/** The sections of HTML whose headings have anchors. */
const sectionsOf = (html: string): ReadonlyArray<Section> => {
  const parts = html.split(/<h([1-6]) id="([^"]*)">(.*?)<\/h\1>/s)
  const sections: Array<Section> = []
  for (let i = 1; i + 3 < parts.length; i += 4) {
    const [depth = "", anchor = "", text = "", below = ""] = parts.slice(i, i + 4)
    sections.push({ depth: Number(depth), anchor, text: wordsOf(text), words: wordsOf(below) })
  }
  return sections
}

const LONGEST_SUMMARY = 240
const OPTION = /(?<!\S)--?[a-z][a-z-]*/g

/**
 * The first sentence below the title; empty if there is none or it is too long for a summary. In a decision it follows
 * the status.
 */
export const summaryOf = ({ html }: Pick<Page, "html">): string => {
  const [, paragraph = ""] = /<\/h1>\s*(?:<p>Status: [^<]*<\/p>\s*)?<p>([\s\S]*?)<\/p>/.exec(html) ?? []
  const words = wordsOf(paragraph).replace(/^(?:Decision|Problem)\. /, "")
  const sentence = /^.*?[.:?](?= [A-Z]|$)/.exec(words)?.[0].replace(/:$/, ".") ?? ""
  return sentence.length > LONGEST_SUMMARY ? "" : sentence
}

export const page = (file: string, source: string): Page => {
  const targets: Array<string> = []
  const seen = new Map<string, number>()

  const resolved = (target: string): string => {
    if (isElsewhere(target) || target.startsWith("#")) return target
    const [path = "", anchor] = target.split("#", 2)
    const to = posix.join(posix.dirname(file), path).replace(/\/$/, "")
    targets.push(to)
    return `${Address.between(file, to)}${anchor === undefined ? "" : `#${anchor}`}`
  }

  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ depth, text, tokens }) {
        const anchor = anchorOf(text)
        const before = seen.get(anchor) ?? 0
        seen.set(anchor, before + 1)
        const id = before === 0 ? anchor : `${anchor}-${before}`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escaped(resolved(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text }) {
        return `<img src="${escaped(resolved(href))}" alt="${escaped(text)}" loading="lazy">`
      },
      code: block,
      // A line can break at a hyphen, but not within the name of an option.
      codespan({ text }) {
        return `<code>${escaped(text).replaceAll(OPTION, '<span class="option">$&</span>')}</code>`
      },
      // A table wider than the screen scrolls by itself instead of the page.
      table(token) {
        const cell = (at: Tokens.TableCell) => {
          const name = at.header ? "th" : "td"
          const align = at.align === null ? "" : ` style="text-align:${at.align}"`
          return `<${name}${align}>${this.parser.parseInline(at.tokens)}</${name}>`
        }
        const row = (cells: ReadonlyArray<Tokens.TableCell>) => `<tr>${cells.map(cell).join("")}</tr>`
        const body = token.rows.map(row).join("")
        return `<div class="table" tabindex="0"><table><thead>${row(token.header)}</thead><tbody>${body}</tbody></table></div>\n`
      },
    },
  })
  const html = marked.parse(source, { async: false })
  const sections = sectionsOf(html)
  return { title: sections[0]?.text ?? file, html, source, sections, targets }
}
