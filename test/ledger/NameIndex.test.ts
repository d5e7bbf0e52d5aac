import { describe, expect, it } from "vitest"
import { NameIndex } from "../../src/ledger/tables/NameIndex.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import { tableKey } from "./builders.js"

describe("a name", () => {
  it("has one owner: a second one would be a bug", () => {
    const names = ["mine" as Name, "mine" as Name]
    const index = new NameIndex(tableKey, (row) => names[row] ?? null)
    index.add("mine" as Name, 0)
    expect(index.find("mine" as Name)).toBe(0)
    expect(() => index.add("mine" as Name, 1)).toThrow("row 1 would get the name @mine, which row 0 has")
  })
})
