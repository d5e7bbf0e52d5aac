import { describe, expect, it } from "vitest"
import { NameIndex } from "../../src/ledger/tables/NameIndex.js"
import * as Name from "../../src/protocol/identity/Name.js"
import { tableKey } from "./builders.js"

describe("a name", () => {
  it("has one owner, and a second one is a bug", () => {
    const names = ["mine" as Name.Name, "mine" as Name.Name]
    const index = new NameIndex(tableKey, (row) => names[row] ?? null)
    index.add("mine" as Name.Name, 0)
    expect(index.find("mine" as Name.Name)).toBe(0)
    expect(() => index.add("mine" as Name.Name, 1)).toThrow("row 1 would get the name @mine, which row 0 has")
  })

  it("is found by its beginning, in alphabetical order", () => {
    const names = ["mine", "minstrel", "mind-you", "min", "other", "mi9"].filter(Name.isName)
    const index = new NameIndex(tableKey, (row) => names[row] ?? null)
    for (const [row, name] of names.entries()) index.add(name, row)
    expect(index.beginningWith("min", 3)).toEqual([
      ["min", 3],
      ["mind-you", 2],
      ["mine", 0],
    ])
    expect(index.beginningWith("mins", 3)).toEqual([["minstrel", 1]])
    expect(index.beginningWith("min-", 3)).toEqual([])
  })
})
