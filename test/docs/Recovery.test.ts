import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { FOLLOWING, SIGNING } from "../../src/consensus/Recovery.js"

const page = readFileSync(resolve(import.meta.dirname, "../../docs/recovery.md"), "utf8")

const sectionOf = (title: string): string =>
  page.split(/^## /m).find((section) => section.startsWith(`${title}\n`)) ?? ""

const drawnIn = (section: string): string => section.split("```")[1] ?? ""

const rowsOf = (section: string): ReadonlyArray<string> =>
  [...section.matchAll(/^\| `(\w+)` +\|/gm)].flatMap(([, state]) => state ?? [])

describe("the page about recovery", () => {
  for (const [title, states] of [
    ["Following", FOLLOWING],
    ["Signing", SIGNING],
  ] as const) {
    it(`draws every state of ${title}, and has a row for each and for nothing else`, () => {
      const section = sectionOf(title)
      expect(rowsOf(section)).toEqual(states)
      for (const state of states) expect(drawnIn(section)).toMatch(new RegExp(`\\b${state}\\b`))
    })
  }
})
