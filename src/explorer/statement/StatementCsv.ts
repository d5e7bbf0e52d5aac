/** An account's statement as a file for spreadsheets. */
import * as Moment from "../../client/Moment.js"
import { type Answer, node } from "../live/Node.js"
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
] as const

const coins = (sats: number): string => {
  const [whole, decimals] = Words.coinParts(Math.abs(sats))
  return `${sats < 0 ? "-" : ""}${whole.replaceAll(/\D/g, "")}.${decimals.padEnd(8, "0")}`
}

/** Every value is a figure, a hash or a word of ours, so none needs quotes. */
const rowOf = (entry: Entry): string =>
  [
    Moment.iso(entry.timestamp),
    Moment.iso(entry.since),
    entry.kind,
    entry.type,
    coins(entry.change),
    coins(entry.amount),
    entry.fee === null ? null : coins(entry.fee),
    entry.counterparty,
    entry.applied,
    entry.proposal_id,
    entry.round,
    entry.hash,
  ]
    .map((value) => value ?? "")
    .join(",")

export const csvOf = (entries: ReadonlyArray<Entry>): string =>
  `${[COLUMNS.join(","), ...entries.map(rowOf)].join("\n")}\n`

/** What a browser asks for in one go: a tenth of the requests that it may make in a minute. */
const MOST_PAGES = 100
const PAGE = 100

export interface Export {
  readonly csv: string
  readonly entries: number
  /** Whether older entries are missing, since there are too many. */
  readonly isCut: boolean
}

/** The newest 10,000 entries. */
export const download = async (account: string): Promise<Export> => {
  const entries: Array<Entry> = []
  let cursor: string | null | undefined
  for (let page = 0; page < MOST_PAGES && cursor !== null; page++) {
    const urlParams = cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor }
    const answer = await node.transactions.statement({ path: { address: account }, urlParams })
    entries.push(...answer.entries)
    cursor = answer.next_cursor
  }
  return { csv: csvOf(entries), entries: entries.length, isCut: cursor !== null }
}
