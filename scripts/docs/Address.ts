/** Where a file of the repository is on the site, and how one page names another. Links are relative, so that any folder can hold the site. */
import { posix } from "node:path"

/** README.md is the front page; a folder is the page that lists it. */
export const of = (file: string): string => {
  if (file === "README.md") return "index.html"
  if (/\.(?:png|svg|json)$/.test(file)) return file
  const named = file.replace(/\.md$/, "")
  return `${named}.html`
}

/** Where its Markdown is. */
export const ofText = (file: string): string => (file.endsWith(".md") ? file : `${file}.md`)

/** The way from the page of one file to the page of another. */
export const between = (from: string, to: string): string => posix.relative(posix.dirname(of(from)), of(to))

/** From the page of a file to the top of the site: empty, or `../`, or `../../`. */
export const toTop = (from: string): string => "../".repeat(of(from).split("/").length - 1)
