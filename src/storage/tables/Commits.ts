/** The commits this node has executed. */
import { Effect, Option } from "effect"
import { fromHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { CommitIndex, Epoch, Round, Timestamp } from "../../protocol/numbers/Natural.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import type { StorageError } from "../files/StorageError.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Prune from "./Prune.js"

/** A commit with the results of its execution. */
export interface CommitRecord extends Commit {
  readonly time: Timestamp
  readonly effectsDigest: Hash
}

export interface Commits {
  readonly last: Effect.Effect<Option.Option<CommitRecord>, StorageError>
  readonly at: (index: CommitIndex) => Effect.Effect<Option.Option<CommitRecord>, StorageError>
  /** In their order, `limit` at most. */
  readonly from: (index: CommitIndex, limit: number) => Effect.Effect<ReadonlyArray<CommitRecord>, StorageError>
  /** The first one of this round or epoch or a later one. */
  readonly firstSince: (round: Round, epoch: Epoch) => Effect.Effect<Option.Option<CommitIndex>, StorageError>
  /** In their order. */
  readonly ofEpoch: (epoch: Epoch) => Effect.Effect<ReadonlyArray<CommitRecord>, StorageError>
  /** Deletes some old commits that ordered no transaction still recorded, and returns whether there may be more. */
  readonly prune: (request: Prune.Request) => Effect.Effect<boolean, StorageError>
}

const COLUMNS = "commit_index, epoch, leader_round, leader_hash, previous, hash, time, effects_digest"

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

/** Part of a commit's transaction; a commit that is there already is a bug of the caller and is refused. */
export const append = (sql: Sql, commit: CommitRecord, vertexCount: number): void =>
  sql`insert into commits ${sql.literal(`(${COLUMNS}, vertex_count)`)} values (
    ${commit.index}, ${commit.epoch}, ${commit.leaderRound}, ${fromHex(commit.leaderHash)},
    ${fromHex(commit.previous)}, ${fromHex(commit.hash)}, ${commit.time}, ${fromHex(commit.effectsDigest)},
    ${vertexCount})`.run()

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

export const make = (database: Database): Commits => {
  const select = (which: string, ...values: ReadonlyArray<number>) =>
    database.select(commitOf, `select ${COLUMNS} from commits ${which}`, ...values)

  const first = (commits: ReadonlyArray<CommitRecord>) => Option.fromNullable(commits[0])

  return {
    last: Effect.map(select("order by commit_index desc limit 1"), first),
    at: (index) => Effect.map(select("where commit_index = ?", index), first),
    from: (index, limit) => select("where commit_index >= ? order by commit_index limit ?", index, limit),
    firstSince: (round, epoch) =>
      Effect.map(
        database.select(
          (row) => Column.nullable(row, 0, Column.counter<CommitIndex>),
          "select min(commit_index) from commits where leader_round >= ? or epoch >= ?",
          round,
          epoch,
        ),
        ([index]) => Option.fromNullable(index),
      ),
    ofEpoch: (epoch) => select("where epoch = ? order by commit_index", epoch),

    prune: Prune.onwards(database, pruneBehind),
  }
}
