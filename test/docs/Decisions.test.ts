import { describe, expect, it } from "vitest"
import { pages, textOf } from "./Pages.js"

const decisions = pages.filter((page) => page.startsWith("docs/decisions/"))

describe("the pages of docs/decisions", () => {
  it("are more than a handful", () => {
    expect(decisions.length).toBeGreaterThan(5)
  })

  it.each(decisions)("%s has its status and date under the title", (page) => {
    expect(textOf(page)).toMatch(/^# .+\n\nStatus: accepted, \d{4}-\d{2}-\d{2}\n\n/)
  })
})
