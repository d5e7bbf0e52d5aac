/** Finalized transactions and postings, from PostgreSQL. */
import { Effect, Either, Option } from "effect"
import { fromHex } from "#crypto"
import type { Row, Statements } from "../archive/Postgres.js"
import * as PostingBlocks from "../ledger/rules/PostingBlocks.js"
import type { Entry, Finalized, StatementCursor } from "../node/reads/State.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"
import type { NetworkId } from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as Transaction from "../protocol/transaction/Transaction.js"
import type { Filter } from "../rpc/handlers/Transactions.js"
import * as Column from "./Column.js"
import * as TransactionList from "./TransactionList.js"

type Posting = Extract<Entry, { readonly _tag: "Posting" }>["posting"]

const NEWEST = Number.MAX_SAFE_INTEGER

const milliseconds = (column: string): string => `(extract(epoch from ${column}) * 1000)::bigint`

/** Completes the transactions whose places `found` selects. */
const SELECT = `select t.sequence, t.bytes, t.failure, t.failure_reason, t.proposal_id, t.charged, t.commit_index,
    ${milliseconds("c.time")}, c.leader_round, v.hash, v.round, v.author, ${milliseconds("v.time")}
  from found join transactions t on t.commit_index = found.commit_index and t.sequence = found.sequence
    join commits c on c.commit_index = t.commit_index
    join vertices v on v.commit_index = t.commit_index and v.position = t.vertex_position
  order by t.sequence desc`

export const withFound = (found: string): string => `with found as (${found}) ${SELECT}`

export const BY_HASH = withFound("select commit_index, sequence from transactions where hash = $1")
export const HISTORY = withFound(
  "select commit_index, sequence from account_history where address = $1 and sequence < $2 order by sequence desc limit $3",
)
/** Renamed, because `kind` in the order would otherwise mean the text, and pages follow the kind's place. */
export const POSTINGS = `select until, kind::text as word, number, amount, proposal_id, ${milliseconds("since")}, ${milliseconds("time")}, round
  from account_postings where address = $1 and (until, kind, number) < ($2, $3::posting_kind, $4)
  order by until desc, kind desc, number desc limit $5`

const outcomeOf = (row: Row): Finalized["recorded"]["outcome"] => {
  const code = Column.nullable(row, 2, Column.text)
  return {
    failure: code === null ? null : { code, reason: Column.text(row, 3) },
    proposalId: Column.nullable(row, 4, (row, i) => Natural.proposalId(Column.integer(row, i))),
    charged: Column.integer(row, 5),
  }
}

const finalizedOf = (networkId: NetworkId, row: Row): Finalized => {
  const transaction = Either.getOrThrow(Transaction.decode(networkId, Column.bytes(row, 1)))
  return {
    _tag: "Finalized",
    transaction,
    recorded: {
      sequence: Column.integer(row, 0),
      transaction,
      outcome: outcomeOf(row),
      commitIndex: Natural.commitIndex(Column.integer(row, 6)),
      commitTime: Natural.timestamp(Column.integer(row, 7)),
      leaderRound: Natural.round(Column.integer(row, 8)),
      vertex: {
        hash: Column.hash(row, 9),
        round: Natural.round(Column.integer(row, 10)),
        author: Column.address(row, 11),
        timestamp: Natural.timestamp(Column.integer(row, 12)),
      },
    },
  }
}

export const make = (networkId: NetworkId) => {
  const all = (rows: ReadonlyArray<Row>) => rows.map((row) => finalizedOf(networkId, row))
  return {
    byId: ({ rows }: Statements, id: Hash) =>
      Effect.map(rows(BY_HASH, [fromHex(id)]), (found) => Option.fromNullable(all(found)[0])),
    history: ({ rows }: Statements, address: Address, before: number | null, limit: number) =>
      Effect.map(rows(HISTORY, [fromHex(address), before ?? NEWEST, limit]), all),
    latest: (sql: Statements, filter: Filter, before: number | null, most: number) =>
      Effect.map(TransactionList.latest(sql, withFound, filter, before, most), all),
  }
}

const kindOf = (text: string): PostingBlocks.Kind => {
  const kind = PostingBlocks.KINDS.find((kind) => kind === text)
  if (kind === undefined) throw new Error(`expected a kind of posting, got ${text}`)
  return kind
}

const postingOf = (row: Row): Posting => {
  const kind = kindOf(Column.text(row, 1))
  return {
    position: {
      until: Column.integer(row, 0),
      kind: PostingBlocks.KINDS.indexOf(kind),
      number: Column.integer(row, 2),
    },
    kind,
    amount: Sats.make(Column.integer(row, 3)),
    proposalId: Column.nullable(row, 4, (row, i) => Natural.proposalId(Column.integer(row, i))),
    since: Natural.timestamp(Column.integer(row, 5)),
    time: Natural.timestamp(Column.integer(row, 6)),
    round: Natural.round(Column.integer(row, 7)),
  }
}

/** Newest first. A position without a posting, from a made-up cursor, finds older ones. */
export const postings = (
  { rows }: Statements,
  address: Address,
  before: StatementCursor["position"],
  limit: number,
) => {
  const { until, kind, number } = before ?? { until: NEWEST, kind: 0, number: 0 }
  const name = PostingBlocks.KINDS[Math.min(kind, PostingBlocks.KINDS.length - 1)] ?? "genesis"
  // The column holds 32-bit integers, far more than a commit has postings.
  const place = Math.min(number, 2_147_483_647)
  return Effect.map(rows(POSTINGS, [fromHex(address), until, name, place, limit]), (found) => found.map(postingOf))
}
