/** Results of transactions, and the accounts that took part. */
import type { SqlError } from "@effect/sql"
import { Effect, Either, Option } from "effect"
import { fromHex } from "#crypto"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { NetworkId } from "../../protocol/identity/Network.js"
import * as Limits from "../../protocol/numbers/Limits.js"
import type { CommitIndex, ProposalId, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import { addressesOf } from "../../protocol/transaction/Charges.js"
import * as Transaction from "../../protocol/transaction/Transaction.js"
import type { Header } from "../../protocol/vertex/Header.js"
import * as EventLoop from "../../turns/EventLoop.js"
import * as Blob from "../sqlite/Blob.js"
import * as Bulk from "../sqlite/Bulk.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Commits from "./Commits.js"
import * as Postings from "./Postings.js"

export interface Failure {
  /** The HTTP interface's error code. */
  readonly code: string
  readonly reason: string
}

export interface Outcome {
  /** Null if the transaction was applied. */
  readonly failure: Failure | null
  /** The proposal that it created. */
  readonly proposalId: ProposalId | null
  /** The total charge in sats; null if it equals the signed fee and amount. */
  readonly charged: number | null
}

/** A transaction as a commit executed it. */
export interface ExecutedTransaction {
  readonly transaction: Pick<Transaction.Transaction, "id" | "encoded">
  /** Its position in the vertex. */
  readonly position: number
  readonly outcome: Outcome
  /** The accounts whose histories contain it, each once. */
  readonly participants: ReadonlyArray<Address>
}

/** A vertex as a commit ordered it, with its transactions that left a trace. */
export interface OrderedVertex {
  readonly header: RecordedHeader
  /** The number of its transactions, including those without a trace. */
  readonly transactions: number
  readonly executed: ReadonlyArray<ExecutedTransaction>
}

type RecordedHeader = Pick<Header, "hash" | "round" | "author" | "timestamp">

/** A transaction's position in the order of execution, which is the cursor of account histories. */
export type Sequence = number

export interface HistoryRequest {
  readonly address: Address
  /** Only transactions before this one; null for the newest. */
  readonly before: Sequence | null
  readonly limit: number
}

/** Consecutive transaction numbers, both ends included. */
export interface SequenceRange {
  readonly first: Sequence
  readonly last: Sequence
}

const OUTCOME = "failure, failure_reason, proposal_id, charged"

const PLACE = `v.commit_index, c.time, c.leader_round, v.hash, v.round, v.author, v.timestamp
  from found join transaction_vertices v on v.id = found.vertex_id join commits c on c.commit_index = v.commit_index
  order by found.sequence desc`

/** The wanted sequences in packs. `cross join` makes SQLite look up each one's pack, and not the reverse. */
const inPacks = (wanted: string): string =>
  `with wanted (sequence) as (${wanted}), found as (
    select wanted.sequence, last_sequence, transactions, bytes, ${OUTCOME}, vertex_id
    from wanted cross join transaction_packs p
      on last_sequence = (select min(last_sequence) from transaction_packs where last_sequence >= wanted.sequence)
        and last_sequence - transactions < wanted.sequence
      left join transaction_outcomes o on o.sequence = wanted.sequence)
  select sequence, last_sequence, transactions, bytes, ${OUTCOME}, ${PLACE}`

/** Rows of an earlier version, as packs of one. */
const inRows = (wanted: string): string =>
  `with wanted (sequence) as (${wanted}), found as (
    select t.sequence, t.sequence as last_sequence, 1 as transactions, bytes,
      failure, failure_reason, proposal_id, null as charged, vertex_id
    from wanted cross join earlier_transactions t on t.sequence = wanted.sequence)
  select found.sequence, last_sequence, transactions, bytes, ${OUTCOME}, ${PLACE}`

const HISTORY = "select sequence from account_history where address = ? and sequence < ? order by sequence desc limit ?"
/** The last numbers before one, or the last of all. */
const RECENT = `with recursive recent (sequence, n) as (
    select min(?, ifnull((select seq from sqlite_sequence where name = 'transaction_packs'), 0) + 1) - 1, 1
    union all select sequence - 1, n + 1 from recent where n < ? and sequence > 1)
  select sequence from recent where sequence > 0`
const RECENT_IN_PACKS = inPacks(RECENT)
const RECENT_IN_ROWS = inRows(RECENT)
const HISTORY_IN_PACKS = inPacks(HISTORY)
const HISTORY_IN_ROWS = inRows(HISTORY)
const BY_KEY = inPacks("select sequence from transaction_keys where key = ?")
const BY_HASH_IN_ROWS = inRows("select sequence from earlier_transactions where hash = ?")

const BETWEEN_KEYS = inPacks("select sequence from transaction_keys where key between ? and ? limit ?")
const BETWEEN_HASHES_IN_ROWS = inRows("select sequence from earlier_transactions where hash between ? and ? limit ?")

/** After every commit. */
const NEWEST_COMMIT = Natural.commitIndex(Number.MAX_SAFE_INTEGER)

/** How a statement is executed. */
type Select<E> = (text: string, ...values: ReadonlyArray<Value>) => Effect.Effect<ReadonlyArray<RecordedTransaction>, E>

/** Newest first. */
const historyBy = <E>(select: Select<E>, { address, before, limit }: HistoryRequest) =>
  Effect.gen(function* () {
    const wanted = [fromHex(address), before ?? Number.MAX_SAFE_INTEGER, limit]
    const newer = yield* select(HISTORY_IN_PACKS, ...wanted)
    return newer.length === limit ? newer : [...newer, ...(yield* select(HISTORY_IN_ROWS, ...wanted))]
  })

/** The same within a reading. */
export const history = (sql: Sql, networkId: NetworkId, request: HistoryRequest) => {
  const recorded = recordedOf(networkId)
  return historyBy(
    (text, ...values) => Effect.map(sql.text(text, values).values, (rows) => rows.map(recorded)),
    request,
  )
}

const failureOf = (row: Column.Row): Failure | null => {
  const code = Column.nullable(row, 4, Column.text)
  return code === null ? null : { code, reason: Column.nullable(row, 5, Column.text) ?? "" }
}

const transactionOf = (networkId: NetworkId, row: Column.Row): Transaction.Transaction => {
  const first = Column.integer(row, 1) - Column.integer(row, 2) + 1
  return Either.getOrThrowWith(
    Transaction.decodeNth(networkId, Column.bytes(row, 3), Column.integer(row, 0) - first),
    ({ message }) => new Column.UnexpectedValue(message),
  )
}

const recordedOf = (networkId: NetworkId) => (row: Column.Row) => ({
  sequence: Column.integer(row, 0),
  transaction: transactionOf(networkId, row),
  outcome: {
    failure: failureOf(row),
    proposalId: Column.nullable(row, 6, Column.counter<ProposalId>),
    charged: Column.nullable(row, 7, Column.integer),
  },
  commitIndex: Column.counter<CommitIndex>(row, 8),
  commitTime: Column.counter<Timestamp>(row, 9),
  leaderRound: Column.counter<Round>(row, 10),
  vertex: {
    hash: Column.hash(row, 11),
    round: Column.counter<Round>(row, 12),
    author: Column.address(row, 13),
    timestamp: Column.counter<Timestamp>(row, 14),
  },
})

export type RecordedTransaction = Readonly<ReturnType<ReturnType<typeof recordedOf>>>

/** 48 bits: among a billion transactions, a hundredth of a per mille share their key, and the number stays exact. */
const KEY_DIGITS = 12

const keyOf = (digits: string): number => Number.parseInt(digits.slice(0, KEY_DIGITS), 16)

const HASH_DIGITS = 64

const insertPacks = Bulk.insert("transaction_packs (last_sequence, transactions, vertex_id, first_position, bytes)", 5)

const insertKeys = Bulk.insert("transaction_keys (key, sequence)", 2)

const insertOutcomes = Bulk.insert(`transaction_outcomes (sequence, ${OUTCOME})`, 5)

const insertHistory = Bulk.insert("account_history (address, sequence)", 2)

const insertVertices = Bulk.insert(
  "transaction_vertices (id, hash, round, author, timestamp, commit_index, first_sequence)",
  7,
)

/** Rows of transactions that are written together. */
class Rows {
  readonly #vertices: Array<Value> = []
  readonly #packs: Array<Value> = []
  readonly #keys: Array<Value> = []
  readonly #outcomes: Array<Value> = []
  readonly #history: Array<Value> = []
  /** The number of transactions. */
  count = 0

  vertex(id: number, { hash, round, author, timestamp }: RecordedHeader, index: CommitIndex, first: Sequence): void {
    this.#vertices.push(id, fromHex(hash), round, fromHex(author), timestamp, index, first)
  }

  pack(pack: ReadonlyArray<ExecutedTransaction>, first: Sequence, vertexId: number): void {
    const bytes = Blob.join(pack.map(({ transaction }) => transaction.encoded))
    this.#packs.push(first + pack.length - 1, pack.length, vertexId, pack[0]?.position ?? 0, bytes)
    for (const [i, executed] of pack.entries()) this.#transaction(executed, first + i)
    this.count += pack.length
  }

  #transaction({ transaction, outcome, participants }: ExecutedTransaction, sequence: Sequence): void {
    const { failure, proposalId, charged } = outcome
    this.#keys.push(keyOf(transaction.id), sequence)
    if (failure !== null || proposalId !== null || charged !== null) {
      this.#outcomes.push(sequence, failure?.code ?? null, failure?.reason ?? null, proposalId, charged)
    }
    for (const address of participants) this.#history.push(fromHex(address), sequence)
  }

  write(sql: Sql): void {
    insertVertices(sql, this.#vertices)
    insertPacks(sql, this.#packs)
    insertKeys(sql, this.#keys)
    insertOutcomes(sql, this.#outcomes)
    insertHistory(sql, this.#history)
  }
}

/** The content of a page. A longer transaction is a pack of its own. */
const PACK_BYTES = 4_000

/** A pack's transactions are adjacent in the vertex. */
function* packsOf(executed: ReadonlyArray<ExecutedTransaction>): Generator<ReadonlyArray<ExecutedTransaction>> {
  let pack: Array<ExecutedTransaction> = []
  let size = 0
  for (const one of executed) {
    const { length } = one.transaction.encoded
    const last = pack.at(-1)
    if (last !== undefined && (size + length > PACK_BYTES || one.position !== last.position + 1)) {
      yield pack
      pack = []
      size = 0
    }
    pack.push(one)
    size += length
  }
  if (pack.length > 0) yield pack
}

/** Transactions of a large commit written before other fibers run. */
const ROWS_AT_ONCE = 1_024

/** The last numbers of transactions and of their vertices. */
const lastNumbers = (sql: Sql): Effect.Effect<readonly [Sequence, number], SqlError.SqlError> =>
  Effect.map(
    sql`select ifnull((select seq from sqlite_sequence where name = 'transaction_packs'), 0),
      ifnull(max(id), 0) from transaction_vertices`.values,
    ([row = []]) => [Column.integer(row, 0), Column.integer(row, 1)],
  )

/**
 * Records the vertices' results as a part of a commit's transaction. Returns each vertex' new sequences, null without
 * any.
 */
export const append = (
  sql: Sql,
  index: CommitIndex,
  vertices: ReadonlyArray<OrderedVertex>,
): Effect.Effect<ReadonlyArray<SequenceRange | null>, SqlError.SqlError> =>
  Effect.gen(function* () {
    if (vertices.every(({ executed }) => executed.length === 0)) return vertices.map(() => null)
    let rows = new Rows()
    let [sequence, vertexId] = yield* lastNumbers(sql)
    const ranges: Array<SequenceRange | null> = []
    for (const { header, executed } of vertices) {
      ranges.push(executed.length === 0 ? null : { first: sequence + 1, last: sequence + executed.length })
      if (executed.length === 0) continue
      vertexId++
      rows.vertex(vertexId, header, index, sequence + 1)
      for (const pack of packsOf(executed)) {
        rows.pack(pack, sequence + 1, vertexId)
        sequence += pack.length
        if (rows.count < ROWS_AT_ONCE) continue
        rows.write(sql)
        rows = new Rows()
        yield* EventLoop.turn
      }
    }
    rows.write(sql)
    return ranges
  })

/** The first transaction of this commit or a later one; after the last if there is none. */
const firstSequence = (sql: Sql, from: CommitIndex): Effect.Effect<Sequence, SqlError.SqlError> =>
  Effect.flatMap(
    sql`select first_sequence from transaction_vertices where commit_index >= ${from}
      order by commit_index, id limit 1`.values,
    ([row]) =>
      row === undefined ? Effect.map(lastNumbers(sql), ([last]) => last + 1) : Effect.succeed(Column.integer(row, 0)),
  )

/** Transactions recorded together: a pack, or a row of an earlier version. */
interface Old {
  readonly first: Sequence
  readonly last: Sequence
  readonly vertexId: number
  readonly bytes: Uint8Array
}

const oldOf = (row: Column.Row): Old => {
  const last = Column.integer(row, 0)
  return {
    first: last - Column.integer(row, 1) + 1,
    last,
    vertexId: Column.integer(row, 2),
    bytes: Column.bytes(row, 3),
  }
}

const OLDEST_ROWS = `select sequence, 1, vertex_id, bytes from earlier_transactions
  where sequence < ? order by sequence limit ?`

const OLDEST_PACKS = `select last_sequence, transactions, vertex_id, bytes from transaction_packs
  where last_sequence < ? order by last_sequence limit ?`

/** The oldest ones before a number, about `limit` transactions and at least one, if there are any. */
const oldest = (sql: Sql, before: Sequence, limit: number): Effect.Effect<ReadonlyArray<Old>, SqlError.SqlError> =>
  Effect.gen(function* () {
    const rows = (yield* sql.text(OLDEST_ROWS, [before, limit]).values).map(oldOf)
    if (rows.length === limit) return rows
    const packs = (yield* sql.text(OLDEST_PACKS, [before, limit]).values).map(oldOf)
    let count = rows.length
    const taken = packs.findIndex(({ first, last }) => {
      count += last - first + 1
      return count >= limit
    })
    return [...rows, ...packs.slice(0, taken < 0 ? packs.length : taken + 1)]
  })

/** Deletes each row by its key, because searching by sequence would read every account's history. */
const forget = (sql: Sql, networkId: NetworkId, { first, last, bytes }: Old): void => {
  const transactions = Either.getOrThrowWith(
    Transaction.decodeFirst(networkId, bytes, last - first + 1),
    ({ message }) => new Column.UnexpectedValue(message),
  )
  for (const [i, transaction] of transactions.entries()) {
    sql`delete from transaction_keys where key = ${keyOf(transaction.id)} and sequence = ${first + i}`.run()
    for (const address of addressesOf(transaction))
      sql`delete from account_history where address = ${fromHex(address)} and sequence = ${first + i}`.run()
  }
}

/** Deletes about `limit` of the oldest transactions of earlier commits. Returns how many; 0 if none are left. */
const pruneBefore = (sql: Sql, networkId: NetworkId, before: CommitIndex, limit: number) =>
  Effect.gen(function* () {
    const old = yield* oldest(sql, yield* firstSequence(sql, before), limit)
    for (const one of old) forget(sql, networkId, one)
    const [end, vertexId] = old.reduce(
      ([sequence, vertex], one) => [Math.max(sequence, one.last), Math.max(vertex, one.vertexId)],
      [0, 0],
    )
    sql`delete from transaction_outcomes where sequence <= ${end}`.run()
    sql`delete from transaction_packs where last_sequence <= ${end}`.run()
    sql`delete from earlier_transactions where sequence <= ${end}`.run()
    Postings.pruneBefore(sql, before, limit)
    // Vertices are numbered in the order of their transactions. The last one can have more of them.
    if (old.length > 0) sql`delete from transaction_vertices where id < ${vertexId}`.run()
    else sql`delete from transaction_vertices where commit_index < ${before}`.run()
    return old.reduce((count, { first, last }) => count + last - first + 1, 0)
  })

/** A recorded transaction of a vertex. */
export interface RecordedPlace {
  readonly position: number
  readonly isApplied: boolean
}

const placeOf = (row: Column.Row): RecordedPlace => ({
  position: Column.integer(row, 0),
  isApplied: Column.integer(row, 1) === 1,
})

const OF_VERTEX = `
  with recursive v as (
    select id, first_sequence, first_sequence + ${Limits.VERTEX_TRANSACTIONS - 1} as last_possible
    from transaction_vertices where commit_index = ? and hash = ?),
  one (position, sequence, last) as (
    select first_position, last_sequence - transactions + 1, last_sequence
    from v join transaction_packs p on p.last_sequence between first_sequence and last_possible and p.vertex_id = v.id
    union all select position + 1, sequence + 1, last from one where sequence < last)
  select position, not exists (
    select 1 from transaction_outcomes o where o.sequence = one.sequence and failure is not null) from one
  union all
  select position, failure is null
    from v join earlier_transactions t on t.sequence between first_sequence and last_possible and t.vertex_id = v.id`

export const make = (database: Database, networkId: NetworkId) => {
  const recorded = recordedOf(networkId)
  const select = (text: string, ...values: ReadonlyArray<Value>) => database.select(recorded, text, ...values)

  return {
    byId: (id: Hash) =>
      Effect.gen(function* () {
        const newer = yield* select(BY_KEY, keyOf(id))
        const found = newer.find(({ transaction }) => transaction.id === id)
        if (found !== undefined) return Option.some(found)
        return Option.fromNullable((yield* select(BY_HASH_IN_ROWS, fromHex(id)))[0])
      }),

    /** Some whose hashes begin with these hex digits. */
    beginningWith: (digits: string, limit: number) =>
      Effect.gen(function* () {
        const [from, to] = [digits.padEnd(HASH_DIGITS, "0"), digits.padEnd(HASH_DIGITS, "f")]
        const newer = yield* select(BETWEEN_KEYS, keyOf(from), keyOf(to), limit)
        const older = yield* select(BETWEEN_HASHES_IN_ROWS, fromHex(from), fromHex(to), limit)
        const found = [...newer, ...older].map(({ transaction }) => transaction.id)
        return found.filter((id) => id.startsWith(digits)).slice(0, limit)
      }),

    /** A vertex' recorded transactions. The others had no effect. */
    ofVertex: (commitIndex: CommitIndex, hash: Hash) => database.select(placeOf, OF_VERTEX, commitIndex, fromHex(hash)),

    /** The first sequence of commits at or after this time; beyond the last if there is none. */
    since: (moment: Timestamp) =>
      database.read((sql) =>
        Effect.flatMap(Commits.firstFrom(sql, moment), (index) =>
          firstSequence(
            sql,
            Option.getOrElse(index, () => NEWEST_COMMIT),
          ),
        ),
      ),

    /** Of all accounts, newest first; fewer than the limit only if no more are recorded. */
    recent: (before: Sequence | null, limit: number) =>
      Effect.gen(function* () {
        const wanted = [before ?? Number.MAX_SAFE_INTEGER, limit]
        const newer = yield* select(RECENT_IN_PACKS, ...wanted)
        return newer.length === limit ? newer : [...newer, ...(yield* select(RECENT_IN_ROWS, ...wanted))]
      }),

    /** Sent and received, newest first. */
    history: (request: HistoryRequest) => historyBy(select, request),

    /** Deletes about `limit` of the oldest transactions of earlier commits. Returns how many; 0 if none are left. */
    prune: (before: CommitIndex, limit: number) => database.write((sql) => pruneBefore(sql, networkId, before, limit)),
  }
}
