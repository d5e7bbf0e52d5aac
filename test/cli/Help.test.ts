import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as NodeCommand from "../../src/cli/NodeCommand.js"
import { settings } from "../../src/cli/NodeSettings.js"
import * as Help from "../../src/cli/settings/Help.js"
import * as Setting from "../../src/cli/settings/Setting.js"
import * as Udg from "../../src/cli/Udg.js"
import { modules } from "../../src/node/log/LogFilter.js"

const named = Object.values(settings).map((setting) => [setting.name, setting] as const)
const plain = Help.render(NodeCommand.command.page("1.2.3"), false)

describe("help", () => {
  it.each(named)("explains --%s and its default", (name, setting) => {
    const text = plain.replaceAll(/\s+/g, " ")
    const start = text.indexOf(` --${name} `)
    expect(start).toBeGreaterThan(0)
    expect(text.slice(start)).toContain(setting.about)
    if (setting.otherwise._tag === "Some") expect(text.slice(start)).toContain(`[default: ${setting.otherwise.value}]`)
  })

  it("fits eighty columns for every command", async () => {
    const all = await Udg.commands()
    expect(all.length).toBeGreaterThan(25)
    const pages = all.map((command) => Help.render(command.page("1.2.3"), false))
    expect([plain, ...pages].flatMap((page) => page.split("\n")).filter((line) => line.length > 80)).toEqual([])
  })

  it("breaks a long command line where a shell continues it, and not inside quotes", async () => {
    const pages = (await Udg.commands()).map((command) => Help.render(command.page("1.2.3"), false))
    const broken = pages.flatMap((page) => page.split("\n")).filter((line) => line.endsWith(" \\"))
    expect(broken.length).toBeGreaterThan(0)
    for (const line of broken) expect(line.split("'").length % 2).toBe(1)
  })

  it("names its groups once each and shows examples", () => {
    const groups = [...new Set(Object.values(settings).map(({ group }) => group))]
    const titles = plain.split("\n").filter((line) => /^[A-Z][A-Za-z ]+$/.test(line))
    expect(titles).toEqual(["Usage", ...groups, "Other", "Examples"])
    expect(plain).toContain("RUST_LOG=info,mempool=debug udg")
  })

  it("is styled only on a terminal", () => {
    const styled = Help.render(NodeCommand.command.page("1.2.3"), true)
    expect(plain).not.toContain("\u001b")
    expect(styled).toContain("\u001b[1mUsage")
  })
})

describe("the documentation", () => {
  const configuration = readFileSync(resolve(import.meta.dirname, "../../docs/configuration.md"), "utf8")

  it.each(named)("lists --%s", (_, setting) => {
    expect(configuration).toContain(`\n- \`${Setting.flagOf(setting)}\`: `)
  })

  it("has no option that does not exist", () => {
    const known = ["--help", "--version", ...Object.values(settings).map(Setting.flagOf)]
    const rows = [...configuration.matchAll(/^- `(--[a-z-]+)/gm)].map((match) => match[1])
    expect(rows.filter((option) => !known.includes(option ?? ""))).toEqual([])
  })

  it("lists the modules of the log", () => {
    const [, listed = ""] = /^The modules: ([^.]+)\./m.exec(configuration) ?? []
    expect(listed.match(/[a-z]+/g)).toEqual([...modules])
  })
})
