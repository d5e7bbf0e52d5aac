/** The vertices of the local DAG. */
import type { SqlError } from "@effect/sql"
import { Effect, Option } from "effect"
import { fromHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import type { Header } from "../../protocol/vertex/Header.js"
import * as Vertex from "../../protocol/vertex/Vertex.js"
import { PageLimit } from "../../replica/disk/PageLimit.js"
import * as Blob from "../sqlite/Blob.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import type * as Prune from "./Prune.js"
import type { SequenceRange } from "./Transactions.js"

/** Increases in the order in which vertices entered the DAG, so a parent's is lower than its child's. */
export type Arrival = number

const placeOf = (row: Column.Row) => ({
  arrival: Column.integer(row, 0),
  hash: Column.hash(row, 1),
  epoch: Column.counter<Epoch>(row, 2),
  round: Column.counter<Round>(row, 3),
  author: Column.address(row, 4),
  timestamp: Column.counter<Timestamp>(row, 5),
  /** The commit that ordered it; null if none has. */
  commitIndex: Column.nullable(row, 6, Column.counter<CommitIndex>),
})

/** `bytes` is the encoded vertex or its beginning. */
const vertexOf = (row: Column.Row) => ({ ...placeOf(row), bytes: Column.bytes(row, 7) })

export type StoredVertex = Readonly<ReturnType<typeof vertexOf>>

export interface PageRequest {
  readonly epoch: Epoch
  /** Both ends are included. */
  readonly fromRound: Round
  readonly toRound: Round
  /** The arrival of the previous page's last vertex; null for the first page. */
  readonly after: Arrival | null
  /** Limit of the page's bytes. A page has at least one vertex if there is any. */
  readonly maxBytes: number
}

export interface Page {
  readonly vertices: ReadonlyArray<StoredVertex>
  /** Whether these are known to be the last. The page after the last one is empty. */
  readonly isLast: boolean
}

const PLACE = "v.id, v.hash, v.epoch, v.round, v.author, v.timestamp, v.commit_index"
const COLUMNS = `${PLACE}, b.bytes, b.transactions_at, b.transactions_size, v.first_sequence, v.last_sequence, t.bytes`
const HEAD_COLUMNS = `${PLACE}, substr(b.bytes, 1, ${Vertex.HEAD_BYTES})`
const SIZE = "length(b.bytes) + ifnull(b.transactions_size, 0)"
const SOURCE = `vertices v join vertex_bytes b on b.vertex_id = v.id
  left join vertex_transactions t on t.vertex_id = v.id`

/** Rows read for one page. */
const PAGE_ROWS = 1_024

/** The fewest vertices of a block of the index by hash: they fill about six pages. */
const BLOCK_VERTICES = 512
/** A block that holds this part of all vertices is full, so that a search tries a few hundred blocks at most. */
const BLOCKS_OF_ALL = 256

/** All blocks, the newest first; null after the last one. */
const BLOCKS = `with recursive blocks (block) as (
  select max(block) from vertices
  union all select (select max(block) from vertices where block < b.block) from blocks b where b.block is not null)`

/** The block of the next vertex: the newest one, or a new one if that is full. A block's number is the id of its first vertex. */
const BLOCK_OF_NEXT = `(
  select iif(next - newest >= max(${BLOCK_VERTICES}, (next - first) / ${BLOCKS_OF_ALL}), next, newest) from (
    select (select ifnull(max(id), 0) + 1 from vertices) as next,
      (select ifnull(min(id), 0) from vertices) as first,
      (select ifnull(max(block), 0) from vertices) as newest))`

/** The id of the vertex with a hash, if nothing else is known. */
const ID_OF_HASH = `(${BLOCKS}
  select f.id from blocks cross join vertices f on f.block = blocks.block and f.hash = ? limit 1)`

/** The columns that find a vertex in the index by rounds. */
type Place = Pick<Header, "hash" | "round" | "author">

const AT_PLACE = "round = ? and author = ? and hash = ?"

const valuesOf = ({ hash, round, author }: Place): ReadonlyArray<Value> => [round, fromHex(author), fromHex(hash)]

/** Stores a vertex that entered the DAG, unless it is already stored. Part of a transaction. */
export const insert = (sql: Sql, vertex: Vertex.Vertex): void => {
  const { header, encoded } = vertex
  const place = valuesOf(header)
  sql
    .text(
      `insert into vertices (hash, epoch, round, author, timestamp, block)
        select ?, ?, ?, ?, ?, ${BLOCK_OF_NEXT} where not exists (select 1 from vertices where ${AT_PLACE})`,
      [fromHex(header.hash), header.epoch, header.round, fromHex(header.author), header.timestamp, ...place],
    )
    .run()
  const { at, size } = Vertex.transactionsIn(vertex)
  const add = (into: string, values: ReadonlyArray<Value>, which = ""): void =>
    sql
      .text(
        `insert into ${into} select id, ${values.map(() => "?").join(", ")} from vertices where ${AT_PLACE} ${which}
          on conflict (vertex_id) do nothing`,
        [...values, ...place],
      )
      .run()
  if (size === 0) {
    add("vertex_bytes (vertex_id, bytes)", [encoded])
    return
  }
  const rest = Blob.join([encoded.subarray(0, at), encoded.subarray(at + size)])
  add("vertex_bytes (vertex_id, bytes, transactions_at, transactions_size)", [rest, at, size])
  add("vertex_transactions (vertex_id, bytes)", [encoded.subarray(at, at + size)], "and first_sequence is null")
}

/** A vertex as a commit ordered it. */
export interface Ordered {
  readonly place: Place
  /** If all its transactions are recorded: they need not be stored here any more. */
  readonly recorded: SequenceRange | null
}

/** Marks stored vertices as ordered by a commit. Part of its transaction. */
export const markOrdered = (sql: Sql, commitIndex: CommitIndex, vertices: ReadonlyArray<Ordered>): void => {
  for (const [position, { place, recorded }] of vertices.entries()) {
    const values = valuesOf(place)
    sql
      .text(
        `update vertices set commit_index = ?, position = ?, first_sequence = ?, last_sequence = ?
          where ${AT_PLACE} and commit_index is null`,
        [commitIndex, position, recorded?.first ?? null, recorded?.last ?? null, ...values],
      )
      .run()
    if (recorded === null) continue
    sql
      .text(`delete from vertex_transactions where vertex_id = (select id from vertices where ${AT_PLACE})`, values)
      .run()
  }
}

const PACKS = "select bytes from transaction_packs where last_sequence between ? and ? order by last_sequence"

/** The row's transactions in pieces, wherever they are stored. */
const transactionsOf = (sql: Sql, row: Column.Row): Effect.Effect<ReadonlyArray<Uint8Array>, SqlError.SqlError> => {
  const waiting = Column.nullable(row, 12, Column.bytes)
  if (waiting !== null) return Effect.succeed([waiting])
  const packs = sql.text(PACKS, [Column.integer(row, 10), Column.integer(row, 11)])
  return Effect.map(packs.values, (rows) => rows.map((pack) => Column.bytes(pack, 0)))
}

/** A row with `COLUMNS` as a complete vertex. */
const wholeOf = (sql: Sql, row: Column.Row): Effect.Effect<StoredVertex, SqlError.SqlError> => {
  const stored = vertexOf(row)
  const at = Column.nullable(row, 8, Column.integer)
  if (at === null) return Effect.succeed(stored)
  const length = stored.bytes.length + Column.integer(row, 9)
  return Effect.map(transactionsOf(sql, row), (transactions) => {
    const bytes = Blob.join([stored.bytes.subarray(0, at), ...transactions, stored.bytes.subarray(at)])
    if (bytes.length === length) return { ...stored, bytes }
    throw new Column.UnexpectedValue(`expected vertex ${stored.hash} of ${length} bytes, found ${bytes.length}`)
  })
}

const wholesOf = (sql: Sql, which: string, values: ReadonlyArray<Value>) =>
  Effect.flatMap(sql.text(`select ${COLUMNS} from ${SOURCE} ${which}`, values).values, (rows) =>
    Effect.forEach(rows, (row) => wholeOf(sql, row)),
  )

const pageOf = (
  sql: Sql,
  { epoch, fromRound, toRound, after, maxBytes }: PageRequest,
): Effect.Effect<Page, SqlError.SqlError> =>
  Effect.gen(function* () {
    const which = "where v.epoch = ? and v.id > ? and v.round between ? and ? order by v.id limit ?"
    const values = [epoch, after ?? 0, fromRound, toRound]
    const sizes = yield* sql.text(`select ${SIZE} from ${SOURCE} ${which}`, [...values, PAGE_ROWS]).values
    const limit = new PageLimit(maxBytes)
    const over = sizes.findIndex((row) => !limit.takes(Column.integer(row, 0)))
    const count = over < 0 ? sizes.length : over
    const vertices = yield* wholesOf(sql, which, [...values, count])
    return { vertices, isLast: count === sizes.length && sizes.length < PAGE_ROWS }
  })

const HASH_DIGITS = 64

export const make = (database: Database) => {
  const heads = (which: string, ...values: ReadonlyArray<Value>) =>
    database.select(vertexOf, `select ${HEAD_COLUMNS} from ${SOURCE} ${which}`, ...values)
  const wholes = (which: string, ...values: ReadonlyArray<Value>) =>
    database.read((sql) => wholesOf(sql, which, values))

  return {
    byHash: (hash: Hash) =>
      Effect.map(wholes(`where v.id = ${ID_OF_HASH}`, fromHex(hash)), ([vertex]) => Option.fromNullable(vertex)),

    /** The first hashes that begin with these hex digits. */
    beginningWith: (digits: string, limit: number) =>
      database.select(
        (row) => Column.hash(row, 0),
        `${BLOCKS} select v.hash from blocks cross join vertices v on v.block = blocks.block and v.hash between ? and ?
          order by v.hash limit ?`,
        fromHex(digits.padEnd(HASH_DIGITS, "0")),
        fromHex(digits.padEnd(HASH_DIGITS, "f")),
        limit,
      ),

    /** The first `HEAD_BYTES` of a round's vertices, by author and hash. */
    headsAt: (round: Round) => heads("where v.round = ? order by v.author, v.hash", round),

    /** The first `HEAD_BYTES` of vertices between two rounds, both included, by round and author. */
    heads: (from: Round, to: Round, limit: number) =>
      heads("where v.round between ? and ? order by v.round, v.author limit ?", from, to, limit),

    /** The beginning of each author's highest vertex in an epoch, by author. */
    highestHeads: (epoch: Epoch) =>
      // With max(), SQLite returns the other columns of the row with the maximum.
      heads(
        `where v.id in (select id from (select id, max(round) from vertices where epoch = ? group by author))
          order by v.author`,
        epoch,
      ),

    /** A vertex' position in the order of arrival. */
    arrivalOf: (hash: Hash) =>
      database.first((row) => Column.nullable(row, 0, Column.integer), `select ${ID_OF_HASH}`, fromHex(hash)),

    /** Rounds of an epoch in order of arrival, page by page. */
    ofEpoch: (request: PageRequest) => database.read((sql) => pageOf(sql, request)),

    /** A commit's vertices, in its order. */
    ofCommit: (index: CommitIndex) => wholes("where v.commit_index = ? order by v.position", index),

    count: Effect.map(
      database.select((row) => Column.integer(row, 0), "select count(*) from vertices"),
      ([count = 0]) => count,
    ),

    /** The lowest round with a vertex. */
    oldestRound: database.first(
      (row) => Column.nullable(row, 0, Column.counter<Round>),
      "select min(round) from vertices",
    ),

    /** Deletes old vertices. Returns how many; less than the limit if none are left. */
    prune: ({ beforeRound, beforeEpoch, limit }: Prune.Request) =>
      database
        .write((sql) =>
          Effect.map(
            sql`delete from vertices where id in (
              select id from vertices where round < ${beforeRound} and epoch < ${beforeEpoch} order by round limit ${limit}
            ) returning id`.values,
            (rows) => rows.length,
          ),
        )
        .pipe(Effect.withSpan("prune", { attributes: { round: beforeRound, epoch: beforeEpoch } })),
  }
}
