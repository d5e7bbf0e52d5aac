/** Changes of an account's balance, newest first: its transactions and postings, merged. */
import { Effect } from "effect"
import type { Address } from "../../protocol/identity/Address.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import * as Postings from "./Postings.js"
import * as Transactions from "./Transactions.js"

/** The last transaction and posting of the previous pages; null if there was none. */
export interface Cursor {
  readonly sequence: Transactions.Sequence | null
  readonly position: Postings.Position | null
}

export type Entry =
  | { readonly _tag: "Transaction"; readonly recorded: Transactions.RecordedTransaction }
  | { readonly _tag: "Posting"; readonly posting: Postings.RecordedPosting }

export interface Statement {
  /** As of the commit up to which the entries go. */
  readonly balance: number
  readonly entries: ReadonlyArray<Entry>
  /** Null on the last page. */
  readonly next: Cursor | null
}

export interface Request {
  readonly address: Address
  readonly after: Cursor
  readonly limit: number
}

/** A commit's postings come after its transactions, so they precede them here. */
const merged = (
  transactions: ReadonlyArray<Transactions.RecordedTransaction>,
  postings: ReadonlyArray<Postings.RecordedPosting>,
  limit: number,
): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = []
  let [t, p] = [0, 0]
  while (entries.length < limit) {
    const [recorded, posting] = [transactions[t], postings[p]]
    if (posting !== undefined && (recorded === undefined || posting.position.until >= recorded.commitIndex)) {
      entries.push({ _tag: "Posting", posting })
      p++
    } else if (recorded !== undefined) {
      entries.push({ _tag: "Transaction", recorded })
      t++
    } else break
  }
  return entries
}

/** Builds a page from lists that have one more entry than fits, if there are more. */
export const pageOf = (
  balance: number,
  transactions: ReadonlyArray<Transactions.RecordedTransaction>,
  postings: ReadonlyArray<Postings.RecordedPosting>,
  { after, limit }: Pick<Request, "after" | "limit">,
): Statement => {
  const entries = merged(transactions, postings, limit)
  const isLast = transactions.length + postings.length === entries.length
  return { balance, entries, next: isLast ? null : cursorAfter(after, entries) }
}

const cursorAfter = (before: Cursor, entries: ReadonlyArray<Entry>): Cursor => {
  let { sequence, position } = before
  for (const entry of entries) {
    if (entry._tag === "Posting") position = entry.posting.position
    else sequence = entry.recorded.sequence
  }
  return { sequence, position }
}

export const make = (database: Database, networkId: NetworkId) => ({
  /**
   * Reads one view of the database: the entries of all pages add up to the balance unless a commit comes in between.
   */
  page: ({ address, after, limit }: Request) =>
    database.read((sql) =>
      Effect.gen(function* () {
        // One more than requested tells whether there are more.
        const most = limit + 1
        const [balance] = yield* sql`select balance from accounts where address = ${address}`.values
        const transactions = yield* Transactions.history(sql, networkId, {
          address,
          before: after.sequence,
          limit: most,
        })
        const postings = yield* Postings.of(sql, { address, before: after.position, limit: most })
        const held = balance === undefined ? 0 : Column.integer(balance, 0)
        return pageOf(held, transactions, postings, { after, limit })
      }),
    ),
})
