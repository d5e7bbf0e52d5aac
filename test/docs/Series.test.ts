/** What the pages say about the series in `/metrics`. */
import { expect, it } from "vitest"
import { METRICS } from "../../scripts/docs/Contents.js"
import * as Generated from "../../scripts/docs/Generated.js"
import * as Catalogue from "../../src/rpc/metrics/Catalogue.js"
import { pages, textOf } from "./Pages.js"

const everywhere = [...Catalogue.all, ...Catalogue.ofGatewayAlone]
const names = everywhere.map(({ name }) => name)

it(`${METRICS} lists all series, as the program describes them`, () => {
  const { html } = Generated.metrics()
  expect(everywhere.filter(({ name }) => !html.includes(`<code>${name}</code>`))).toEqual([])
  expect(html).toContain("Round of the last committed leader")
})

it("gives each series its own name and meaning", () => {
  expect(new Set(names).size).toBe(names.length)
  for (const { help } of everywhere) expect(help).toMatch(/^[A-Z1].*[^.]$/)
})

it("names only existing series", () => {
  const parts = names.flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`])
  const unknown = pages.flatMap((page) =>
    [...textOf(page).matchAll(/`(udg_\w+_\w+)`/g)].flatMap(([, name = ""]) =>
      parts.includes(name) ? [] : [`${page}: ${name}`],
    ),
  )
  expect(unknown).toEqual([])
})
