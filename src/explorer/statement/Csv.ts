/** An account's statement as a file for spreadsheets. Pure. */
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

/** Spreadsheets run what begins like a formula, and others write memos. */
const FORMULA = /^[=+\-@\t\r]/

const quoted = (text: string): string => {
  const line = Visible.line(text)
  return `"${(FORMULA.test(line) ? `'${line}` : line).replaceAll('"', '""')}"`
}

/** What accounts are called, by the ledger and by the reader. */
export interface Called {
  readonly names: ReadonlyMap<string, string>
  readonly labels: Readonly<Record<string, string>>
}

/** What others wrote is quoted; every other value is a figure, a hash, a name or a word of ours. */
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
