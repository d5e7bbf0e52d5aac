import { expect, it } from "vitest"
import * as Csv from "../../../src/explorer/statement/Csv.js"

const entry = {
  ...{ kind: "received", change: 1_250_000_000, amount: 1_250_000_000, fee: null, type: "Transfer" },
  ...{ hash: "ab".repeat(32), counterparty: "11".repeat(20), applied: true, proposal_id: null, round: 7 },
  ...{ since: 0, timestamp: 0, memo: '=HYPERLINK("x")\nand "more", too' },
} as unknown as Csv.Entry

it("contains names, labels and memos that a spreadsheet neither executes nor splits", () => {
  const called = { names: new Map([["11".repeat(20), "alice"]]), labels: { ["11".repeat(20)]: "my bank, the old one" } }
  const [head, row, end] = Csv.csvOf([entry], called).split("\n")
  expect(head).toMatch(/,transaction,counterparty_name,your_label,memo$/)
  expect(row).toContain(",12.50000000,")
  expect(row?.endsWith(`,alice,"my bank, the old one","'=HYPERLINK(""x"")\\u000aand ""more"", too"`)).toBe(true)
  expect(end).toBe("")
})
