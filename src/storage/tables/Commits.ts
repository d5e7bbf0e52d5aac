/** The commits that this node has executed. */
import { Effect, Option } from "effect"
import { fromHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Prune from "./Prune.js"

/** A commit with the results of its execution. */
export interface CommitRecord extends Commit {
  readonly time: Timestamp
  readonly effectsDigest: Hash
}

const COLUMNS = "commit_index, epoch, leader_round, leader_hash, previous, hash, time, effects_digest"
const SELECT = `select ${COLUMNS} from commits`
const INSERT = `insert into commits (${COLUMNS}, vertex_count) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`

const commitOf = (row: Column.Row): CommitRecord => ({
  index: Column.counter(row, 0),
  epoch: Column.counter(row, 1),
  leaderRound: Column.counter(row, 2),
  leaderHash: Column.hash(row, 3),
  previous: Column.hash(row, 4),
  hash: Column.hash(row, 5),
  time: Column.counter(row, 6),
  effectsDigest: Column.hash(row, 7),
})

/** Part of a commit's transaction. An existing commit is refused as the caller's bug. */
export const append = (sql: Sql, commit: CommitRecord, vertexCount: number): void =>
  sql
    .text(INSERT, [
      ...[commit.index, commit.epoch, commit.leaderRound, fromHex(commit.leaderHash), fromHex(commit.previous)],
      ...[fromHex(commit.hash), commit.time, fromHex(commit.effectsDigest), vertexCount],
    ])
    .run()

/**
 * Fails the transaction unless all vertices of this commit are marked with it: the DAG stores a vertex before a commit
 * can order it, and no commit orders one twice. The statement fails on a null count, so that nothing waits for an
 * answer.
 */
export const requireVertices = (sql: Sql, index: CommitIndex): void =>
  sql`update commits set vertex_count = null
    where commit_index = ${index} and vertex_count <> (select count(*) from vertices where commit_index = ${index})`.run()

/** The next batch of old commits after this one; null if there are none. */
const oldBehind = (sql: Sql, index: number, { beforeRound, beforeEpoch, limit }: Prune.Request) =>
  Effect.gen(function* () {
    const [lowest = []] = yield* sql`select min(commit_index) from commits where commit_index > ${index}`.values
    const first = Column.nullable(lowest, 0, Column.integer)
    if (first === null) return null
    const [highest = []] = yield* sql`select max(commit_index) from commits
      where commit_index between ${first} and ${first + limit - 1}
        and leader_round < ${beforeRound} and epoch < ${beforeEpoch}`.values
    const last = Column.nullable(highest, 0, Column.integer)
    return last === null ? null : { first, last }
  })

const pruneBehind = (sql: Sql, index: number, request: Prune.Request) =>
  Effect.gen(function* () {
    const old = yield* oldBehind(sql, index, request)
    if (old === null) return null
    sql`delete from commits where commit_index between ${old.first} and ${old.last}
      and commit_index not in (select commit_index from transaction_vertices
        where commit_index between ${old.first} and ${old.last})`.run()
    return old.last
  })

const placeOf = (row: Column.Row) => ({
  index: Column.counter<CommitIndex>(row, 0),
  round: Column.integer(row, 1),
  epoch: Column.integer(row, 2),
  time: Column.integer(row, 3),
})
type Place = ReturnType<typeof placeOf>

/** The stored commit at this index, or the next one above. */
const above = (sql: Sql, index: number) =>
  Effect.map(
    sql`select commit_index, leader_round, epoch, time from commits
      where commit_index >= ${index} order by 1 limit 1`.values,
    ([row]) => (row === undefined ? null : placeOf(row)),
  )

/** Rounds, epochs and times increase with the index, so a binary search reads only a few rows. */
const firstThat = (sql: Sql, isReached: (place: Place) => boolean) =>
  Effect.gen(function* () {
    const [row = []] = yield* sql`select ifnull(max(commit_index), -1) from commits`.values
    let [from, to] = [0, Column.integer(row, 0) + 1]
    while (from < to) {
      const middle = from + Math.floor((to - from) / 2)
      const place = yield* above(sql, middle)
      if (place === null || isReached(place)) to = middle
      else from = place.index + 1
    }
    return Option.map(Option.fromNullable(yield* above(sql, from)), ({ index }) => index)
  })

/** The first commit at this time or later. */
export const firstFrom = (sql: Sql, moment: Timestamp) => firstThat(sql, ({ time }) => time >= moment)

export const make = (database: Database) => ({
  last: database.first(commitOf, `${SELECT} order by commit_index desc limit 1`),
  at: (index: CommitIndex) => database.first(commitOf, `${SELECT} where commit_index = ?`, index),
  /** Up to `limit` commits, in order. */
  from: (index: CommitIndex, limit: number) =>
    database.select(commitOf, `${SELECT} where commit_index >= ? order by commit_index limit ?`, index, limit),
  /** The first commit of this round or epoch, or a later one. */
  firstSince: (round: Round, epoch: Epoch) =>
    database.read((sql) => firstThat(sql, (place) => place.round >= round || place.epoch >= epoch)),
  /** In order. */
  ofEpoch: (epoch: Epoch) => database.select(commitOf, `${SELECT} where epoch = ? order by commit_index`, epoch),
  /** Deletes some old commits without recorded transactions. Returns whether there can be more. */
  prune: Prune.onwards(database, pruneBehind),
})
