import { describe, expect, it } from "@effect/vitest"
import * as Help from "../../src/cli/Help.js"
import * as Node from "../../src/cli/Node.js"
import { settings } from "../../src/cli/NodeSettings.js"

const plain = Help.render(Node.page("1.2.3"), false)

describe("help", () => {
  it.each(Object.values(settings).map((setting) => [setting.name, setting] as const))(
    "says what --%s is for and what holds without it",
    (name, setting) => {
      const text = plain.replaceAll(/\s+/g, " ")
      const start = text.indexOf(` --${name} `)
      expect(start).toBeGreaterThan(0)
      expect(text.slice(start)).toContain(setting.about)
      if (setting.otherwise._tag === "Some")
        expect(text.slice(start)).toContain(`[default: ${setting.otherwise.value}]`)
    },
  )

  it("fits a terminal of a hundred columns", () => {
    expect(plain.split("\n").filter((line) => line.length > 100)).toEqual([])
  })

  it("names its groups once each and shows examples", () => {
    const groups = [...new Set(Object.values(settings).map(({ group }) => group))]
    const titles = plain.split("\n").filter((line) => /^[A-Z][A-Za-z ]+$/.test(line))
    expect(titles).toEqual(["Usage", ...groups, "Other", "Examples"])
    expect(plain).toContain("RUST_LOG=info,mempool=debug udg")
  })

  it("is styled only where somebody can see it", () => {
    const styled = Help.render(Node.page("1.2.3"), true)
    expect(plain).not.toContain("\u001b")
    expect(styled).toContain("\u001b[0;1mUsage")
  })
})
