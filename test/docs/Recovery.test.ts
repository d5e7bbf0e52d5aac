import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { describe, expect, it } from "vitest"
import type { Following, Signing } from "../../src/consensus/Recovery.js"

const page = readFileSync(resolve(import.meta.dirname, "../../docs/recovery.md"), "utf8")

const sectionOf = (title: string): string =>
  page.split(/^## /m).find((section) => section.startsWith(`${title}\n`)) ?? ""

const drawnIn = (section: string): string => section.split("```")[1] ?? ""

const rowsOf = (section: string): ReadonlyArray<string> =>
  [...section.matchAll(/^\| `(\w+)` +\|/gm)].flatMap(([, state]) => state ?? [])

const following: { readonly [S in Following["_tag"]]: true } = {
  InStep: true,
  Behind: true,
  EpochOver: true,
  Closing: true,
  Standstill: true,
  Joining: true,
}
const signing: { readonly [S in Signing["_tag"]]: true } = {
  NoSeat: true,
  Asking: true,
  Silent: true,
  Forgotten: true,
  Signing: true,
}

describe("the recovery page", () => {
  for (const [title, states] of [
    ["Following", Object.keys(following)],
    ["Signing", Object.keys(signing)],
  ] as const) {
    it(`draws every state of ${title}, and has exactly one row for each`, () => {
      const section = sectionOf(title)
      expect(rowsOf(section)).toEqual(states)
      for (const state of states) expect(drawnIn(section)).toMatch(new RegExp(`\\b${state}\\b`))
    })
  }
})
