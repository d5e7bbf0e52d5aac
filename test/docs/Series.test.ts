/** The list of series in docs/operations/monitoring.md is made from the catalogue; UDG_REWRITE_DOCS=1 makes it anew. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import * as Catalogue from "../../src/rpc/metrics/Catalogue.js"
import { root, textOf } from "./Pages.js"

const PAGE = "docs/operations/monitoring.md"

const everywhere = [...Catalogue.all, ...Catalogue.ofGatewayAlone]

/** What the name does not tell: counters end in `_total`, and most others are gauges. */
const kindOf = (type: string): string => (type === "histogram" ? ", a histogram" : "")

const made = everywhere
  .map(({ name, type, labels, help }) => {
    const by = labels.length === 0 ? "" : ` by ${labels.map((label) => `\`${label}\``).join(", ")}`
    return `- \`${name}\`${by}${kindOf(type)}: ${help}`
  })
  .join("\n")

it(`${PAGE} lists all series, as the program describes them`, () => {
  const page = textOf(PAGE)
  const wanted = page.replace(/(<!-- series -->)[\s\S]*(<!-- \/series -->)/, `$1\n\n${made}\n\n$2`)
  if (process.env["UDG_REWRITE_DOCS"] === "1") writeFileSync(join(root, PAGE), wanted)
  else expect(page).toBe(wanted)
})

it("gives each series a name and a meaning of its own", () => {
  const names = everywhere.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { help } of everywhere) expect(help).toMatch(/^[A-Z1].*[^.]$/)
})

it("names counters so that the list need not say what they are", () => {
  const misnamed = everywhere.filter(({ name, type }) => name.endsWith("_total") !== (type === "counter"))
  expect(misnamed.map(({ name }) => name)).toEqual([])
})
