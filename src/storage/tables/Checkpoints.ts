/** Checkpoints, built here or received, with their signers. */
import type { SqlError } from "@effect/sql"
import { Effect, Either, Option } from "effect"
import { fromHex, toHex } from "#crypto"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import type * as Keys from "../../protocol/identity/Keys.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import type { StorageError } from "../files/StorageError.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Prune from "./Prune.js"

export interface StoredCheckpoint extends Checkpoint.SignedCheckpoint {
  readonly hasQuorum: boolean
}

/** Each in the order of their rounds. */
export interface CheckpointsOfEpoch {
  readonly built: ReadonlyArray<Checkpoint.Checkpoint>
  /** By a quorum. */
  readonly signed: ReadonlyArray<StoredCheckpoint>
}

export interface Checkpoints {
  /**
   * Stores a checkpoint with the signatures known so far; new signatures are added to the old ones, and a quorum once
   * reached stays. A different checkpoint of the same round replaces it.
   */
  readonly put: (checkpoint: StoredCheckpoint) => Effect.Effect<void, StorageError>
  /** Stores a checkpoint that was built here. */
  readonly putBuilt: (checkpoint: Checkpoint.Checkpoint) => Effect.Effect<void, StorageError>
  readonly ofEpoch: (epoch: Epoch) => Effect.Effect<CheckpointsOfEpoch, StorageError>
  readonly at: (round: Round) => Effect.Effect<Option.Option<StoredCheckpoint>, StorageError>
  readonly latest: Effect.Effect<Option.Option<StoredCheckpoint>, StorageError>
  readonly latestWithQuorum: Effect.Effect<Option.Option<StoredCheckpoint>, StorageError>
  readonly latestClosing: Effect.Effect<Option.Option<StoredCheckpoint>, StorageError>
  /** Closing checkpoints from this epoch on, in their order, `limit` at most. */
  readonly closing: (from: Epoch, limit: number) => Effect.Effect<ReadonlyArray<StoredCheckpoint>, StorageError>
  /** Deletes some old checkpoints that close no epoch, with their signatures, and returns whether there may be more. */
  readonly prune: (request: Prune.Request) => Effect.Effect<boolean, StorageError>
}

const COLUMNS = "round, has_quorum, content, hash"

const contentOf = (row: Column.Row): Checkpoint.Checkpoint => {
  const checkpoint = Either.getOrElse(Checkpoint.decode(Column.bytes(row, 2)), ({ message }) => {
    throw new Column.UnexpectedValue(message)
  })
  const expected = Column.hash(row, 3)
  if (checkpoint.hash !== expected)
    throw new Column.UnexpectedValue(`checkpoint ${expected} has the hash ${checkpoint.hash}`)
  return checkpoint
}

const signatureOf = (row: Column.Row): Checkpoint.CheckpointSignature => ({
  validator: Column.address(row, 0),
  signature: toHex(Column.bytes(row, 1)) as Keys.Signature,
})

const withSignatures = (sql: Sql, row: Column.Row) =>
  Effect.map(
    sql`select validator, signature from checkpoint_signatures where round = ${Column.integer(row, 0)}
      order by validator`.values,
    (rows): StoredCheckpoint => ({
      checkpoint: contentOf(row),
      signatures: rows.map(signatureOf),
      hasQuorum: Column.boolean(row, 1),
    }),
  )

/** Part of a larger transaction. */
export const put = (sql: Sql, { checkpoint, signatures, hasQuorum }: StoredCheckpoint): void => {
  const { round, epoch, nextEpoch } = checkpoint
  const hash = fromHex(checkpoint.hash)
  const quorum = hasQuorum ? 1 : 0
  // Signatures cover the content: if it changes, the foreign key deletes them.
  sql`delete from checkpoints where round = ${round} and hash <> ${hash}`.run()
  sql`insert into checkpoints (round, epoch, hash, is_closing, has_quorum, content)
    values (${round}, ${epoch}, ${hash}, ${nextEpoch === null ? 0 : 1}, ${quorum}, ${Checkpoint.encode(checkpoint)})
    on conflict (round) do update set has_quorum = max(has_quorum, excluded.has_quorum)`.run()
  for (const { validator, signature } of signatures) {
    sql`insert into checkpoint_signatures (round, validator, signature)
      values (${round}, ${fromHex(validator)}, ${fromHex(signature)})
      on conflict (round, validator) do update set signature = excluded.signature`.run()
  }
}

/** Prunes after this round; returns the last round it looked at, null if there is none. */
const pruneBehind = (sql: Sql, round: number, { beforeRound, beforeEpoch, limit }: Prune.Request) =>
  Effect.gen(function* () {
    const next = yield* sql`select round, epoch from checkpoints
      where round > ${round} and round < ${beforeRound} order by round limit ${limit}`.values
    const [last] = next.filter((row) => Column.integer(row, 1) < beforeEpoch).slice(-1)
    if (last === undefined) return null
    const upTo = Column.integer(last, 0)
    sql`delete from checkpoints where round > ${round} and round <= ${upTo} and is_closing = 0`.run()
    return upTo
  })

export const make = (database: Database): Checkpoints => {
  const select = (rows: (sql: Sql) => Effect.Effect<ReadonlyArray<Column.Row>, SqlError.SqlError>) =>
    database.read((sql) =>
      Effect.flatMap(rows(sql), (found) => Effect.forEach(found, (row) => withSignatures(sql, row))),
    )

  const one = (rows: (sql: Sql) => Effect.Effect<ReadonlyArray<Column.Row>, SqlError.SqlError>) =>
    Effect.map(select(rows), ([checkpoint]) => Option.fromNullable(checkpoint))

  return {
    put: (checkpoint) => database.write((sql) => Effect.sync(() => put(sql, checkpoint))),

    putBuilt: (checkpoint) =>
      database.write((sql) =>
        Effect.sync(() => {
          put(sql, { checkpoint, signatures: [], hasQuorum: false })
          sql`update checkpoints set is_built = 1 where round = ${checkpoint.round}`.run()
        }),
      ),

    ofEpoch: (epoch) =>
      database.read((sql) =>
        Effect.gen(function* () {
          const rows = yield* sql`select ${sql.literal(COLUMNS)}, is_built from checkpoints
            where epoch = ${epoch} order by round`.values
          return {
            built: rows.filter((row) => Column.boolean(row, 4)).map(contentOf),
            signed: yield* Effect.forEach(
              rows.filter((row) => Column.boolean(row, 1)),
              (row) => withSignatures(sql, row),
            ),
          }
        }),
      ),

    at: (round) => one((sql) => sql`select ${sql.literal(COLUMNS)} from checkpoints where round = ${round}`.values),

    latest: one((sql) => sql`select ${sql.literal(COLUMNS)} from checkpoints order by round desc limit 1`.values),

    latestWithQuorum: one(
      (sql) =>
        sql`select ${sql.literal(COLUMNS)} from checkpoints where has_quorum = 1 order by round desc limit 1`.values,
    ),

    latestClosing: one(
      (sql) =>
        sql`select ${sql.literal(COLUMNS)} from checkpoints where is_closing = 1 order by epoch desc limit 1`.values,
    ),

    closing: (from, limit) =>
      select(
        (sql) =>
          sql`select ${sql.literal(COLUMNS)} from checkpoints where is_closing = 1 and epoch >= ${from}
            order by epoch limit ${limit}`.values,
      ),

    prune: Prune.onwards(database, pruneBehind),
  }
}
