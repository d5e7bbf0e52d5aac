/** The documentation pages and their links. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, relative, resolve } from "node:path"

export const root = resolve(import.meta.dirname, "../..")

/** README, CONTRIBUTING and everything below docs/, relative to the root. */
export const pages: ReadonlyArray<string> = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(resolve(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`)
    .sort(),
]

export const textOf = (page: string): string => readFileSync(resolve(root, page), "utf8")

/** The text without code blocks and spans, where brackets are not links. */
const prose = (text: string): string =>
  text
    .replace(/^```[\s\S]*?^```/gm, "")
    .replace(/^ {4}.*$/gm, "")
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, " "))

/** The anchors of a page, derived from its headings as code hosts do. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-"),
    ),
  )

/** The targets of a page's links and images. */
export const linksOf = (text: string): ReadonlyArray<string> =>
  [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target)

const isElsewhere = (target: string): boolean => /^[a-z][a-z+.-]*:/i.test(target)

/** Why a link of this page is broken; undefined if it works or leaves the repository. */
export const complaint = (page: string, target: string): string | undefined => {
  if (isElsewhere(target)) return undefined
  const [path = "", anchor] = target.split("#", 2)
  const file = path === "" ? resolve(root, page) : resolve(root, dirname(page), path)
  if (relative(root, file).startsWith("..")) return `${page}: ${target} is outside of the repository`
  if (!existsSync(file)) return `${page}: ${target} is not there`
  if (anchor === undefined || !file.endsWith(".md")) return undefined
  return anchorsOf(readFileSync(file, "utf8")).has(anchor) ? undefined : `${page}: ${target} has no such heading`
}

/**
 * Folders in which a file named by a page may be: the root, the sources, the docs, and the folder that the page
 * describes.
 */
const PLACES = ["", "src", "docs", "src/effect3"]

/** The missing files that a page names in its text. */
export const missingFiles = (text: string): ReadonlyArray<string> =>
  [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|tsx|mjs|md|json|yml|sh))`/g)]
    .map(([, file = ""]) => file)
    .filter((file) => !PLACES.some((place) => existsSync(resolve(root, place, file))))
