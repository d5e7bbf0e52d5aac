/** Changes of balances by commits, other than by transfers, in blocks of commits. */
import { Effect } from "effect"
import { fromHex } from "#crypto"
import * as Blocks from "../../ledger/rules/PostingBlocks.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { CommitIndex, ProposalId, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Bulk from "../sqlite/Bulk.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Sql } from "../sqlite/Sql.js"
import type { CommitRecord } from "./Commits.js"

const byteOf = new Map<Blocks.Kind, number>(Blocks.KINDS.map((kind, byte) => [kind, byte]))

const insert = Bulk.insert(
  "account_postings (address, until, kind, number, amount, proposal_id, since, time, round)",
  9,
  `on conflict (address, until, kind, number) do update
    set amount = amount + excluded.amount, time = excluded.time, round = excluded.round`,
)

/** A genesis can allocate to millions of accounts. */
const ROWS_AT_ONCE = 1_024

/** Part of a commit's transaction. */
export const append = (
  sql: Sql,
  { index, time, leaderRound }: Pick<CommitRecord, "index" | "time" | "leaderRound">,
  postings: ReadonlyArray<Blocks.Draft>,
): void => {
  for (let start = 0; start < postings.length; start += ROWS_AT_ONCE) {
    const rows: Array<Value> = []
    for (const [i, draft] of postings.slice(start, start + ROWS_AT_ONCE).entries()) {
      const { kind, address, amount, proposalId } = draft
      const { until, number } = Blocks.placeOf(draft, index, start + i)
      rows.push(fromHex(address), until, byteOf.get(kind) ?? 0, number, amount, proposalId, time, time, leaderRound)
    }
    insert(sql, rows)
  }
}

/** A posting's position among its account's, which is the cursor of its pages. */
export interface Position {
  readonly until: number
  readonly kind: number
  readonly number: number
}

const postingOf = (row: Column.Row) => ({
  position: { until: Column.integer(row, 0), kind: Column.integer(row, 1), number: Column.integer(row, 2) },
  kind: kindOf(Column.integer(row, 1)),
  amount: Sats.make(Column.integer(row, 3)),
  proposalId: Column.nullable(row, 4, Column.counter<ProposalId>),
  since: Column.counter<Timestamp>(row, 5),
  time: Column.counter<Timestamp>(row, 6),
  round: Column.counter<Round>(row, 7),
})

const kindOf = (byte: number): Blocks.Kind => {
  const kind = Blocks.KINDS[byte]
  if (kind === undefined)
    throw new Column.UnexpectedValue(`expected a kind of posting from 0 to ${Blocks.KINDS.length - 1}`)
  return kind
}

export type RecordedPosting = Readonly<ReturnType<typeof postingOf>>

/** Before every possible posting. */
const NEWEST: Position = { until: Number.MAX_SAFE_INTEGER, kind: 0, number: 0 }

export interface Request {
  readonly address: Address
  /** Only postings before this one; null for the newest. */
  readonly before: Position | null
  readonly limit: number
}

/** Newest first. Part of a reading. */
export const of = (sql: Sql, { address, before, limit }: Request) => {
  const { until, kind, number } = before ?? NEWEST
  return Effect.map(
    sql`select until, kind, number, amount, proposal_id, since, time, round from account_postings
      where address = ${fromHex(address)} and (until, kind, number) < (${until}, ${kind}, ${number})
      order by until desc, kind desc, number desc limit ${limit}`.values,
    (rows) => rows.map(postingOf),
  )
}

/** Deletes about `limit` of the oldest postings of earlier commits, together with their transactions. */
export const pruneBefore = (sql: Sql, before: CommitIndex, limit: number): void =>
  sql`delete from account_postings where (address, until, kind, number) in (
    select address, until, kind, number from account_postings where until < ${before} order by until limit ${limit})`.run()
