import { expect, it } from "vitest"
import * as Filter from "../../../src/explorer/pages/TransactionFilter.js"

it("is written to the address and read from it", () => {
  const filter: Filter.Filter = { type: "Transfer", words: "old & new", from: "2026-11-01", to: "2026-11-25" }
  const { search } = new URL(Filter.pathOf(filter), "http://x")
  expect(search).toBe("?type=Transfer&words=old+%26+new&from=2026-11-01&to=2026-11-25")
  expect(Filter.read(search)).toEqual(filter)
})

it("applies words to everybody's transactions, and directions to an account's", () => {
  const filter: Filter.Filter = { account: "@alice", direction: "sent", words: "rent", from: "2026-11-01" }
  expect(Filter.pathOf(filter)).toBe("/explorer/transactions?account=%40alice&direction=sent&from=2026-11-01")
  expect(Object.keys(Filter.urlParams(filter))).toEqual(["direction", "from"])
  const everybody = { ...filter, account: undefined }
  expect(Filter.pathOf(everybody)).toBe("/explorer/transactions?words=rent&from=2026-11-01")
  expect(Object.keys(Filter.urlParams(everybody))).toEqual(["words", "from"])
})

it("ignores unknown types and blanks", () => {
  expect(Filter.read("?type=Gift&account=&words=+")).toEqual({})
  expect(Filter.pathOf(Filter.read(""))).toBe("/explorer/transactions")
})

it("includes all of the last day, even a longer one, and ignores invalid days", () => {
  const { from, until } = Filter.urlParams({ from: "2026-11-25", to: "2026-11-25" })
  expect([from, until]).toEqual([new Date(2026, 10, 25).getTime(), new Date(2026, 10, 26).getTime()])
  expect(Filter.urlParams({ from: "yesterday", to: "2026-1-1", words: "rent" })).toEqual({ words: "rent" })
})
