/** Loads an account's whole statement for saving. */
import * as Labels from "../live/Labels.js"
import * as Names from "../live/Names.js"
import { node } from "../live/Node.js"
import * as Csv from "./Csv.js"

/** The pages loaded at once: a tenth of the requests that a browser can make in a minute. */
const MOST_PAGES = 100
const PAGE = 100

export interface Export {
  readonly csv: string
  readonly entries: number
  /** Whether older entries are missing because there are too many. */
  readonly isCut: boolean
}

/** The newest 10,000 entries. */
export const download = async (account: string): Promise<Export> => {
  const entries: Array<Csv.Entry> = []
  let cursor: string | null | undefined
  for (let page = 0; page < MOST_PAGES && cursor !== null; page++) {
    const urlParams = cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor }
    const answer = await node.transactions.statement({ path: { address: account }, urlParams })
    entries.push(...answer.entries)
    cursor = answer.next_cursor
  }
  const names = await Names.named(entries.flatMap(({ counterparty }) => (counterparty === null ? [] : [counterparty])))
  const csv = Csv.csvOf(entries, { names, labels: Labels.labels.peek() })
  return { csv, entries: entries.length, isCut: cursor !== null }
}
