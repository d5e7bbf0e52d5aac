/**
 * `npm run docs`: builds the pages as a static site with search in site/, or with `-- --out DIR` elsewhere. Fails on a
 * broken link.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { parseArgs } from "node:util"
import * as Links from "./docs/Links.js"
import * as Site from "./docs/Site.js"

const { values } = parseArgs({ options: { out: { type: "string", default: "site" } } })
const out = resolve(values.out)

const { files, misplaced, unplaced } = await Site.make()
const wrong = [
  ...misplaced.map((file) => `${file}: in the menu or in docs/, but not in both`),
  ...unplaced.map((address) => `scripts/docs/Synonyms.ts: ${address} is not there`),
  ...Links.broken(files),
]
for (const line of wrong) console.error(`docs: ${line}`)
if (wrong.length > 0) process.exit(1)

rmSync(out, { recursive: true, force: true })
for (const [path, content] of files) {
  mkdirSync(dirname(join(out, path)), { recursive: true })
  writeFileSync(join(out, path), content)
}
const pages = [...files.keys()].filter((path) => path.endsWith(".html")).length
console.log(
  `${pages} pages in ${values.out}/; open ${join(values.out, "index.html")}, or copy the folder to any web server`,
)
