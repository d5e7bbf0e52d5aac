/** The results of transactions, and the accounts that took part in each. */
import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import { fromHex } from "#crypto"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, ProposalId, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Operation from "../../protocol/transaction/Operation.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Header } from "../../protocol/vertex/Header.js"
import * as EventLoop from "../../turns/EventLoop.js"
import * as Bulk from "../sqlite/Bulk.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"

export interface Failure {
  /** The error code of the RPC. */
  readonly code: string
  readonly reason: string
}

export interface Outcome {
  /** Null when the transaction was applied. */
  readonly failure: Failure | null
  /** The proposal it made. */
  readonly proposalId: ProposalId | null
}

/** A transaction as a commit executed it. */
export interface ExecutedTransaction {
  readonly transaction: Pick<Transaction, "id" | "encoded" | "operation">
  /** Its place among the vertex's transactions. */
  readonly position: number
  readonly outcome: Outcome
  /** The accounts in whose histories it appears, each once. */
  readonly participants: ReadonlyArray<Address>
}

/** A vertex as a commit ordered it, with those of its transactions that left a trace. */
export interface OrderedVertex {
  readonly header: Pick<Header, "hash" | "round" | "author" | "timestamp">
  readonly executed: ReadonlyArray<ExecutedTransaction>
}

/** A transaction's position in the order of execution; the cursor of account histories. */
export type Sequence = number

export interface HistoryRequest {
  readonly address: Address
  /** Only transactions before this one; null for the newest. */
  readonly before: Sequence | null
  readonly limit: number
}

const SELECT = `select t.sequence, t.hash, t.bytes, t.failure, t.failure_reason, t.proposal_id, t.position,
  v.commit_index, c.time, c.leader_round, v.hash, v.round, v.author, v.timestamp
  from transactions t join transaction_vertices v on v.id = t.vertex_id
  join commits c on c.commit_index = v.commit_index`

const failureOf = (row: Column.Row): Failure | null => {
  const code = Column.nullable(row, 3, Column.text)
  return code === null ? null : { code, reason: Column.nullable(row, 4, Column.text) ?? "" }
}

const recordedOf = (row: Column.Row) => ({
  sequence: Column.integer(row, 0),
  id: Column.hash(row, 1),
  /** The encoded transaction. */
  bytes: Column.bytes(row, 2),
  outcome: { failure: failureOf(row), proposalId: Column.nullable(row, 5, Column.counter<ProposalId>) },
  position: Column.integer(row, 6),
  commitIndex: Column.counter<CommitIndex>(row, 7),
  commitTime: Column.counter<Timestamp>(row, 8),
  leaderRound: Column.counter<Round>(row, 9),
  vertex: {
    hash: Column.hash(row, 10),
    round: Column.counter<Round>(row, 11),
    author: Column.address(row, 12),
    timestamp: Column.counter<Timestamp>(row, 13),
  },
})

export type RecordedTransaction = Readonly<ReturnType<typeof recordedOf>>

const TRANSACTION_COLUMNS = 9

const insertTransactions = Bulk.insert(
  "transactions (sequence, hash, vertex_id, position, type, failure, failure_reason, proposal_id, bytes)",
  TRANSACTION_COLUMNS,
)

const insertHistory = Bulk.insert("account_history (address, sequence)", 2)

const insertVertices = Bulk.insert(
  "transaction_vertices (id, hash, round, author, timestamp, commit_index, first_sequence)",
  7,
)

const noRows = () => ({ places: [] as Value[], transactions: [] as Value[], history: [] as Value[] })

const insert = (sql: Sql, { places, transactions, history }: ReturnType<typeof noRows>): void => {
  insertVertices(sql, places)
  insertTransactions(sql, transactions)
  insertHistory(sql, history)
}

/** Transactions of a large commit written before other fibers have their turn. */
const ROWS_AT_ONCE = 1_024

/** The last numbers assigned to transactions and to their vertices. */
const lastNumbers = (sql: Sql): Effect.Effect<readonly [Sequence, number], SqlError.SqlError> =>
  Effect.map(
    sql`select ifnull((select seq from sqlite_sequence where name = 'transactions'), 0),
      ifnull(max(id), 0) from transaction_vertices`.values,
    ([row = []]) => [Column.integer(row, 0), Column.integer(row, 1)],
  )

/** Records the results of the vertices' transactions; part of a commit's transaction. */
export const append = (
  sql: Sql,
  index: CommitIndex,
  vertices: ReadonlyArray<OrderedVertex>,
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    if (vertices.every(({ executed }) => executed.length === 0)) return
    let rows = noRows()
    let [sequence, vertexId] = yield* lastNumbers(sql)
    for (const { header, executed } of vertices) {
      if (executed.length === 0) continue
      const { hash, round, author, timestamp } = header
      vertexId++
      rows.places.push(vertexId, fromHex(hash), round, fromHex(author), timestamp, index, sequence + 1)
      for (const { transaction, position, outcome, participants } of executed) {
        const { failure, proposalId } = outcome
        const type = Operation.TYPE_BYTE[transaction.operation._tag]
        sequence++
        rows.transactions.push(sequence, fromHex(transaction.id), vertexId, position, type)
        rows.transactions.push(failure?.code ?? null, failure?.reason ?? null, proposalId, transaction.encoded)
        for (const address of participants) rows.history.push(fromHex(address), sequence)
        if (rows.transactions.length < ROWS_AT_ONCE * TRANSACTION_COLUMNS) continue
        insert(sql, rows)
        rows = noRows()
        yield* EventLoop.turn
      }
    }
    insert(sql, rows)
  })

/** The first transaction of this commit or a later one; beyond the last when there is none. */
const firstSequence = (sql: Sql, from: CommitIndex): Effect.Effect<Sequence, SqlError.SqlError> =>
  Effect.flatMap(
    sql`select first_sequence from transaction_vertices where commit_index >= ${from}
      order by commit_index, id limit 1`.values,
    ([row]) =>
      row === undefined ? Effect.map(lastNumbers(sql), ([last]) => last + 1) : Effect.succeed(Column.integer(row, 0)),
  )

const pruneBefore = (sql: Sql, before: CommitIndex) =>
  Effect.gen(function* () {
    const first = yield* firstSequence(sql, before)
    const gone = yield* sql`select count(*) from transactions where sequence < ${first}`.values
    sql`delete from account_history where sequence < ${first}`.run()
    sql`delete from transactions where sequence < ${first}`.run()
    sql`delete from transaction_vertices where commit_index < ${before}`.run()
    return Column.integer(gone[0] ?? [], 0)
  })

export const make = (database: Database) => ({
  byId: (id: Hash) => database.first(recordedOf, `${SELECT} where t.hash = ?`, fromHex(id)),

  /** Sent and received, newest first. */
  history: ({ address, before, limit }: HistoryRequest) =>
    database.select(
      recordedOf,
      `${SELECT} where t.sequence in (
          select sequence from account_history where address = ? and sequence < ? order by sequence desc limit ?)
        order by t.sequence desc`,
      fromHex(address),
      before ?? Number.MAX_SAFE_INTEGER,
      limit,
    ),

  /** Deletes the transactions of earlier commits and returns how many; it reads every account's history. */
  prune: (before: CommitIndex) => database.write((sql) => pruneBefore(sql, before)),
})
