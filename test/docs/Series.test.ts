/** The table of series in docs/operations/monitoring.md is made from the catalogue; UDG_REWRITE_DOCS=1 makes it anew. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import * as Catalogue from "../../src/rpc/metrics/Catalogue.js"
import { root, textOf } from "./Pages.js"

const PAGE = "docs/operations/monitoring.md"

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`)
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`
  return [lines[0], rule, ...lines.slice(1)].join("\n")
}

const everywhere = [...Catalogue.all, ...Catalogue.ofGatewayAlone]

const made = table([
  ["series", "type", "labels", "meaning"],
  ...everywhere.map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(", "),
    help,
  ]),
])

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
