/** The vertices of the local DAG. */
import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import { fromHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import { HEAD_BYTES, type Vertex } from "../../protocol/vertex/Vertex.js"
import { PageLimit } from "../../replica/disk/PageLimit.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import type * as Prune from "./Prune.js"

/** Rises in the order in which vertices entered the DAG: a parent's is always lower than its child's. */
export type Arrival = number

const vertexOf = (row: Column.Row) => ({
  arrival: Column.integer(row, 0),
  hash: Column.hash(row, 1),
  epoch: Column.counter<Epoch>(row, 2),
  round: Column.counter<Round>(row, 3),
  author: Column.address(row, 4),
  timestamp: Column.counter<Timestamp>(row, 5),
  /** The commit that ordered it; null while none has. */
  commitIndex: Column.nullable(row, 6, Column.counter<CommitIndex>),
  /** The encoded vertex. */
  bytes: Column.bytes(row, 7),
})

export type StoredVertex = Readonly<ReturnType<typeof vertexOf>>

export interface PageRequest {
  readonly epoch: Epoch
  /** Both ends are included. */
  readonly fromRound: Round
  readonly toRound: Round
  /** The arrival of the last vertex of the previous page; null for the first page. */
  readonly after: Arrival | null
  /** How many bytes of vertices the page may hold; it always holds at least one vertex if there is one. */
  readonly maxBytes: number
}

export interface Page {
  readonly vertices: ReadonlyArray<StoredVertex>
  /** Whether these are known to be the last. The page after the last one is empty. */
  readonly isLast: boolean
}

const PLACE = "v.id, v.hash, v.epoch, v.round, v.author, v.timestamp, v.commit_index"
const COLUMNS = `${PLACE}, b.bytes`
const HEAD_COLUMNS = `${PLACE}, substr(b.bytes, 1, ${HEAD_BYTES})`
const SOURCE = "vertices v join vertex_bytes b on b.vertex_id = v.id"
/** At most this many rows are read for one page. */
const PAGE_ROWS = 1_024

/** Inserts the bytes only if the vertex has none yet: a known one does not change. */
const insertOne = (sql: Sql, { header, encoded }: Vertex): void => {
  const hash = fromHex(header.hash)
  sql`insert into vertices (hash, epoch, round, author, timestamp)
    values (${hash}, ${header.epoch}, ${header.round}, ${fromHex(header.author)}, ${header.timestamp})
    on conflict (hash) do nothing`.run()
  sql`insert into vertex_bytes (vertex_id, bytes) select id, ${encoded} from vertices where hash = ${hash}
    on conflict (vertex_id) do nothing`.run()
}

/** Marks stored vertices as ordered by a commit and returns how many there were; part of its transaction. */
export const markOrdered = (
  sql: Sql,
  commitIndex: CommitIndex,
  hashes: ReadonlyArray<Hash>,
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.suspend(() => {
    for (const [position, hash] of hashes.entries()) {
      sql`update vertices set commit_index = ${commitIndex}, position = ${position}
        where hash = ${fromHex(hash)} and commit_index is null`.run()
    }
    return Effect.map(sql`select count(*) from vertices where commit_index = ${commitIndex}`.values, ([row = []]) =>
      Column.integer(row, 0),
    )
  })

const pageOf = (
  sql: Sql,
  { epoch, fromRound, toRound, after, maxBytes }: PageRequest,
): Effect.Effect<Page, SqlError.SqlError> =>
  Effect.gen(function* () {
    const rows = (columns: string, limit: number) =>
      sql.text(
        `select ${columns} from ${SOURCE} where v.epoch = ? and v.id > ? and v.round between ? and ? order by v.id limit ?`,
        [epoch, after ?? 0, fromRound, toRound, limit],
      ).values
    const sizes = yield* rows("length(b.bytes)", PAGE_ROWS)
    const limit = new PageLimit(maxBytes)
    const over = sizes.findIndex((row) => !limit.takes(Column.integer(row, 0)))
    const count = over < 0 ? sizes.length : over
    const vertices = (yield* rows(COLUMNS, count)).map(vertexOf)
    return { vertices, isLast: count === sizes.length && sizes.length < PAGE_ROWS }
  })

export const make = (database: Database) => {
  const select = (columns: string, which: string, ...values: ReadonlyArray<Value>) =>
    database.select(vertexOf, `select ${columns} from ${SOURCE} ${which}`, ...values)

  return {
    /** Stores vertices in the order in which they entered the DAG; those it has already do not change. */
    insert: (vertices: ReadonlyArray<Vertex>) =>
      database.run((sql) => {
        for (const vertex of vertices) insertOne(sql, vertex)
      }),

    byHash: (hash: Hash) =>
      database.first(vertexOf, `select ${COLUMNS} from ${SOURCE} where v.hash = ?`, fromHex(hash)),

    /** The beginnings of the vertices of a round (`HEAD_BYTES` of each), by author and hash. */
    headsAt: (round: Round) => select(HEAD_COLUMNS, "where v.round = ? order by v.author, v.hash", round),

    /** The beginnings of vertices (`HEAD_BYTES`) from one round to another, both included, by round and author. */
    heads: (from: Round, to: Round, limit: number) =>
      select(HEAD_COLUMNS, "where v.round between ? and ? order by v.round, v.author limit ?", from, to, limit),

    /** The beginning of the vertex of the highest round of each author of an epoch, by author. */
    highestHeads: (epoch: Epoch) =>
      // With max() SQLite returns the other columns of the row that holds the maximum.
      select(
        HEAD_COLUMNS,
        `where v.id in (select id from (select id, max(round) from vertices where epoch = ? group by author))
          order by v.author`,
        epoch,
      ),

    /** A vertex's place in the order of arrival. */
    arrivalOf: (hash: Hash) =>
      database.first((row): Arrival => Column.integer(row, 0), "select id from vertices where hash = ?", fromHex(hash)),

    /** Rounds of an epoch in the order of arrival, page by page. */
    ofEpoch: (request: PageRequest) => database.read((sql) => pageOf(sql, request)),

    /** The vertices that a commit ordered, in its order. */
    ofCommit: (index: CommitIndex) => select(COLUMNS, "where v.commit_index = ? order by v.position", index),

    count: Effect.map(
      database.select((row) => Column.integer(row, 0), "select count(*) from vertices"),
      ([count = 0]) => count,
    ),

    /** The lowest round with a vertex. */
    oldestRound: database.first(
      (row) => Column.nullable(row, 0, Column.counter<Round>),
      "select min(round) from vertices",
    ),

    /** Deletes old vertices and returns how many; less than the limit means that none are left. */
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
