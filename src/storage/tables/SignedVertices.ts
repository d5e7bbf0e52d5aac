/**
 * Every vertex that this validator has signed, which keeps it from signing twice. A vertex is sent only after `keep`
 * has returned, and then it survives a power cut.
 */
import { Data, Effect, Option } from "effect"
import { fromHex } from "#crypto"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Header from "../../protocol/vertex/Header.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import type { StorageError } from "../files/StorageError.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Pages from "./Pages.js"

/** The slot holds another vertex. Only that one may be sent again, and nothing else may be signed for the slot. */
export class AlreadySigned extends Data.TaggedError("AlreadySigned")<{
  readonly epoch: Epoch
  readonly round: Round
  readonly hash: Hash
}> {
  override get message(): string {
    return `epoch ${this.epoch}, round ${this.round}: vertex ${this.hash} is signed already`
  }
}

export interface Slot {
  readonly author: Address
  readonly epoch: Epoch
  readonly round: Round
}

export interface Rounds {
  readonly epoch: Epoch
  readonly fromRound: Round
  readonly toRound: Round
}

const PAGE_ROWS = 32
const SELECT = "select author, epoch, round, hash, bytes from own_vertices"

/** All authors, usually one; null after the last one. */
const AUTHORS = `with recursive authors (author) as (
  select min(author) from own_vertices
  union all select (select min(author) from own_vertices where author > a.author) from authors a where a.author is not null)`

const signedOf = (row: Column.Row) => ({
  author: Column.address(row, 0),
  epoch: Column.counter<Epoch>(row, 1),
  round: Column.counter<Round>(row, 2),
  hash: Column.hash(row, 3),
  /** The encoded vertex. */
  bytes: Column.bytes(row, 4),
})

export type SignedVertex = Readonly<ReturnType<typeof signedOf>>

const placeOf = (row: Column.Row) => ({
  round: Column.counter<Round>(row, 0),
  hash: Column.hash(row, 1),
  /** The encoded vertex' size in bytes. */
  size: Column.integer(row, 2),
})

export type SignedPlace = Readonly<ReturnType<typeof placeOf>>

const foreignOf = (row: Column.Row) => ({
  ...signedOf(row),
  seenAt: Column.counter<Timestamp>(row, 5),
})

const companionOf = (row: Column.Row) => ({ hash: Column.hash(row, 0), bytes: Column.bytes(row, 1) })

/** An encoded vertex and its expected hash. */
export type Companion = Readonly<ReturnType<typeof companionOf>>

const insert = (sql: Sql, { header, encoded }: Vertex): void =>
  sql`insert into own_vertices (epoch, round, author, hash, bytes) values (
    ${header.epoch}, ${header.round}, ${fromHex(header.author)}, ${fromHex(header.hash)}, ${encoded})`.run()

const insertCompanions = (sql: Sql, companions: ReadonlyArray<Vertex> | null): void => {
  if (companions === null) sql`delete from companions`.run()
  for (const { header, encoded } of companions ?? []) {
    sql`insert into companions (epoch, hash, bytes) values (${header.epoch}, ${fromHex(header.hash)}, ${encoded})`.run()
  }
}

const isTaken = (error: StorageError): boolean =>
  error._tag === "DatabaseFailed" && error.code.startsWith("SQLITE_CONSTRAINT")

const at = (database: Database, { author, epoch, round }: Slot) =>
  database.first(signedOf, `${SELECT} where author = ? and epoch = ? and round = ?`, fromHex(author), epoch, round)

export const make = (database: Database) => ({
  /**
   * Returns once the vertex and its companions are on disk. Repeating it is harmless. Null companions: the ledger's
   * file has been synced, and earlier companions are no longer needed.
   */
  keep: (vertex: Vertex, companions: ReadonlyArray<Vertex> | null = []) => {
    const { header } = vertex
    const { epoch, round } = header
    const both = database.run((sql) => {
      insert(sql, vertex)
      insertCompanions(sql, companions)
    })
    return both.pipe(
      Effect.catchIf(isTaken, (error) =>
        Effect.gen(function* () {
          const taken = Option.getOrNull(yield* at(database, header))
          if (taken === null) return yield* Effect.fail(error)
          if (taken.hash !== header.hash) return yield* new AlreadySigned({ epoch, round, hash: taken.hash })
          yield* database.run((sql) => insertCompanions(sql, companions))
        }),
      ),
      // A stack for each span would cost a fiftieth of an idle node.
      Effect.withSpan("own vertex", { attributes: { epoch, round }, captureStackTrace: false }),
    )
  },

  /** Returns once a vertex that will be signed elsewhere is on disk with its companions. */
  keepIntent: ({ header, encoded }: Vertex, companions: ReadonlyArray<Vertex> | null) =>
    database.run((sql) => {
      sql`insert or replace into intents (author, hash, bytes)
        values (${fromHex(header.author)}, ${fromHex(header.hash)}, ${encoded})`.run()
      insertCompanions(sql, companions)
    }),

  intent: (author: Address) =>
    database.first(companionOf, "select hash, bytes from intents where author = ?", fromHex(author)),

  /** An epoch's companions, in order of storage. */
  companions: (epoch: Epoch) =>
    database.select(companionOf, "select hash, bytes from companions where epoch = ? order by id", epoch),

  byHash: (hash: Hash) => database.first(signedOf, `${SELECT} where hash = ?`, fromHex(hash)),

  /** An epoch's slots in these rounds, both ends included, without bytes, highest rounds first. */
  placesIn: ({ epoch, fromRound, toRound }: Rounds, limit: number) =>
    database.select(
      placeOf,
      `${AUTHORS} select round, hash, length(bytes) from authors cross join own_vertices using (author)
        where epoch = ? and round between ? and ? order by round desc limit ?`,
      epoch,
      fromRound,
      toRound,
      limit,
    ),

  /**
   * Passes vertices of this epoch and later ones to `visit`, oldest first, a few at a time, because each can be a
   * megabyte.
   */
  load: (author: Address, from: Epoch, visit: (page: ReadonlyArray<SignedVertex>) => void) => {
    const pageAfter = (last: SignedVertex | undefined) =>
      database.select(
        signedOf,
        `${SELECT} where author = ? and (epoch, round) > (?, ?) order by epoch, round limit ?`,
        fromHex(author),
        last?.epoch ?? from,
        last?.round ?? -1,
        PAGE_ROWS,
      )
    return Pages.visited(PAGE_ROWS, pageAfter, visit)
  },

  /** Deletes epochs below this one. Returns the number of vertices. */
  prune: (before: Epoch) =>
    database.write((sql) => {
      sql`delete from companions where epoch < ${before}`.run()
      return Effect.map(
        sql.text(
          `delete from own_vertices where rowid in (
            ${AUTHORS} select v.rowid from authors cross join own_vertices v using (author) where epoch < ?
          ) returning epoch`,
          [before],
        ).values,
        (rows) => rows.length,
      )
    }),

  /** Stores a header that was signed elsewhere with this validator's key. */
  keepForeign: (header: Header.Header, seenAt: Timestamp) =>
    database.run((sql) =>
      sql`insert into foreign_headers (hash, author, epoch, round, seen_at, header)
        values (${fromHex(header.hash)}, ${fromHex(header.author)}, ${header.epoch}, ${header.round}, ${seenAt},
          ${Header.encode(header)})
        on conflict (hash) do update set seen_at = max(seen_at, excluded.seen_at)`.run(),
    ),

  /** By epoch and round, highest first; `bytes` is the encoded header. */
  foreign: (author: Address, limit: number) =>
    database.select(
      foreignOf,
      `select author, epoch, round, hash, header, seen_at from foreign_headers where author = ?
        order by epoch desc, round desc limit ?`,
      fromHex(author),
      limit,
    ),
})
