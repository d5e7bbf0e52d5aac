import { stripVTControlCharacters } from "node:util"
import { Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Paint from "../../src/cli/terminal/Paint.js"
import * as Sheet from "../../src/cli/terminal/Sheet.js"

const columns: ReadonlyArray<Sheet.Column> = [
  { title: "WHO", cutAt: "middle", paint: Paint.quiet },
  { title: "CHANGE", align: "right", paint: Paint.change },
  { title: "STATE", paint: Paint.state },
  { title: "MEMO", cutAt: "end" },
]
const rows = [
  ["tudg1nev4adj3jtvyq5guu3wsystqujgqdz2t6slsct", "+1,234.5", "in committee", "failed"],
  ["@dora tudg19u470x2as03ulh2fmf3ct8x3eezk4r693amxc8", "-2", "not active", "\u001b[31mhealthy"],
]
const table = (isStyled: boolean, room = Option.some(60)) => Sheet.table(columns, rows, { columns: room, isStyled })

describe("colour", () => {
  it("changes nothing but the colour", () => {
    expect(stripVTControlCharacters(table(true))).toBe(table(false))
    expect(table(false)).not.toContain("\u001b")
    expect(table(true)).toContain("\u001b[1mWHO")
    for (const line of table(false).split("\n")) expect(line.length).toBeLessThanOrEqual(60)
  })

  it("depends on the column and not on foreign text", () => {
    const [, first = "", second = ""] = table(true).split("\n")
    expect(first).toContain("\u001b[32min committee\u001b[0m")
    expect(first).toContain("\u001b[32m+1,234.5\u001b[0m")
    expect(first.endsWith("  failed")).toBe(true)
    expect(second).toContain("\u001b[31mnot active\u001b[0m")
    expect(second).toContain("  -2  ")
    expect(second.endsWith("\\u001b[31mhealthy")).toBe(true)
  })

  it("keeps a name and the end of its address if both do not fit", () => {
    expect(table(false).split("\n")[2]).toMatch(/^@dora t[0-9a-z]*…[0-9a-z]+ /)
  })

  it("is in each line of a wrapped value", () => {
    const pairs: ReadonlyArray<Sheet.Line> = [
      ["peers", ["one", "two"], Paint.alarm],
      ["memo", "final"],
    ]
    expect(Sheet.lines(pairs, true)).toBe("peers  \u001b[31mone\u001b[0m\n       \u001b[31mtwo\u001b[0m\nmemo   final")
    expect(Sheet.lines(pairs, false)).toBe("peers  one\n       two\nmemo   final")
  })
})

it("leaves values to copy on one line, and wraps everything else at spaces", () => {
  const text = "word ".repeat(30).trimEnd()
  expect(Sheet.lines([["text", Sheet.whole(text)]], false)).toBe(`text  ${text}`)
  expect(Sheet.lines([["text", text]], false).split("\n")).toHaveLength(2)
  expect(Sheet.lines([["text", Sheet.whole("one\ntwo\u001b[2J")]], false)).toBe("text  one\\u000atwo\\u001b[2J")
})

it.each([
  ["healthy", 32],
  ["final in round 1,204", 32],
  ["final in round 1,204, but not applied", 31],
  ["pending", 33],
  ["not final yet", 33],
  ["degraded", 33],
  ["unhealthy", 31],
  ["not active", 31],
  ["in committee", 32],
  ["Active", 32],
  ["Rejected", 31],
  ["applied", 32],
])("marks the state %s", (text, code) => {
  expect(Paint.state(text)).toBe(`\u001b[${code}m${text}\u001b[0m`)
})

it("leaves an unknown state and an empty text unchanged", () => {
  expect([Paint.state("somewhere"), Paint.state(""), Paint.quiet("")]).toEqual(["somewhere", "", ""])
  expect(Paint.endingInState("http://127.0.0.1:1, udg 0.1.0, healthy")).toBe(
    "http://127.0.0.1:1, udg 0.1.0, \u001b[32mhealthy\u001b[0m",
  )
})
