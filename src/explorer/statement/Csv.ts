/** An account's statement as a spreadsheet file. Pure. */
import * as Moment from "../../client/Moment.js"
import * as Visible from "../../client/Visible.js"
import type { Answer } from "../live/Node.js"
import * as Words from "../show/Words.js"

export type Entry = Answer<"transactions", "statement">["entries"][number]

const COLUMNS = [
  "time",
  "since",
  "kind",
  "type",
  "change_udg",
  "amount_udg",
  "fee_udg",
  "counterparty",
  "applied",
  "proposal",
  "round",
  "transaction",
  "counterparty_name",
  "your_label",
  "memo",
] as const

const coins = (sats: number): string => {
  const [whole, decimals] = Words.coinParts(Math.abs(sats))
  return `${sats < 0 ? "-" : ""}${whole.replaceAll(/\D/g, "")}.${decimals.padEnd(8, "0")}`
}

/** Spreadsheets run text that begins like a formula, and other people write memos. */
const FORMULA = /^[=+\-@\t\r]/

const quoted = (text: string): string => {
  const line = Visible.line(text)
  return `"${(FORMULA.test(line) ? `'${line}` : line).replaceAll('"', '""')}"`
}

/** Accounts' registered names and the reader's labels. */
export interface Called {
  readonly names: ReadonlyMap<string, string>
  readonly labels: Readonly<Record<string, string>>
}

/** Text of other people is quoted; everything else is a figure, hash, name or word of ours. */
const rowOf = (entry: Entry, { names, labels }: Called): string => {
  const { counterparty, memo } = entry
  const label = counterparty === null ? undefined : labels[counterparty]
  return [
    Moment.iso(entry.timestamp),
    Moment.iso(entry.since),
    entry.kind,
    entry.type,
    coins(entry.change),
    coins(entry.amount),
    entry.fee === null ? null : coins(entry.fee),
    counterparty,
    entry.applied,
    entry.proposal_id,
    entry.round,
    entry.hash,
    counterparty === null ? null : names.get(counterparty),
    label === undefined ? null : quoted(label),
    memo === null ? null : quoted(memo),
  ]
    .map((value) => value ?? "")
    .join(",")
}

export const csvOf = (entries: ReadonlyArray<Entry>, called: Called): string =>
  `${[COLUMNS.join(","), ...entries.map((entry) => rowOf(entry, called))].join("\n")}\n`
