/** The commits this node has executed. */
import type { SqlError } from "@effect/sql"
import { Effect, Option } from "effect"
import { fromHex } from "#crypto"
import type { Commit } from "../protocol/Commit.js"
import type { CommitIndex, Epoch, Round, Timestamp } from "../protocol/Counter.js"
import type { Hash } from "../protocol/Hash.js"
import * as Column from "./Column.js"
import type { Database } from "./Database.js"
import type { Sql } from "./Sql.js"
import type { StorageError } from "./StorageError.js"

/** A commit with what executing it gave. */
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

/** Part of a commit's transaction; a commit that stands there already is a bug of the caller and is refused. */
export const append = (sql: Sql, commit: CommitRecord, vertexCount: number): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(
    sql`insert into commits ${sql.literal(`(${COLUMNS}, vertex_count)`)} values (
      ${commit.index}, ${commit.epoch}, ${commit.leaderRound}, ${fromHex(commit.leaderHash)},
      ${fromHex(commit.previous)}, ${fromHex(commit.hash)}, ${commit.time}, ${fromHex(commit.effectsDigest)},
      ${vertexCount})`.run,
  )

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
  }
}
