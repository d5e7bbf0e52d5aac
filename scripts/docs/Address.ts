/**
 * Addresses of the repository's files on the site, and links between pages. Links are relative, so that any folder can
 * contain the site.
 */
import { posix } from "node:path"

/** README.md is the front page. A folder is a page that lists its content. */
export const of = (file: string): string => {
  if (file === "README.md") return "index.html"
  if (/\.(?:png|svg|json)$/.test(file)) return file
  const named = file.replace(/\.md$/, "")
  return `${named}.html`
}

/** The address of a page's Markdown. */
export const ofText = (file: string): string => (file.endsWith(".md") ? file : `${file}.md`)

/** The link from one file's page to another's. */
export const between = (from: string, to: string): string => posix.relative(posix.dirname(of(from)), of(to))

/** The link from a file's page to the top of the site: empty, `../` or `../../`. */
export const toTop = (from: string): string => "../".repeat(of(from).split("/").length - 1)
