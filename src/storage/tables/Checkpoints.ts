/** Checkpoints, built here or received, with their signers. */
import { Effect, Either, Option } from "effect"
import { fromHex, toHex } from "#crypto"
import * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type * as Keys from "../../protocol/identity/Keys.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Prune from "./Prune.js"

export interface StoredCheckpoint extends Checkpoint.SignedCheckpoint {
  readonly hasQuorum: boolean
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

/**
 * Stores a checkpoint with the signatures known so far. New signatures are added to old ones, and a quorum once reached
 * stays. A different checkpoint of the same round replaces it. Part of a larger transaction.
 */
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

/** Prunes after this round. Returns the last round examined, null if there is none. */
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

export const make = (database: Database) => {
  const select = (which: string, ...values: ReadonlyArray<Value>) =>
    database.read((sql) =>
      Effect.flatMap(sql.text(`select ${COLUMNS} from checkpoints ${which}`, values).values, (found) =>
        Effect.forEach(found, (row) => withSignatures(sql, row)),
      ),
    )

  const one = (which: string, ...values: ReadonlyArray<Value>) =>
    Effect.map(select(which, ...values), ([checkpoint]) => Option.fromNullable(checkpoint))

  return {
    put: (checkpoint: StoredCheckpoint) => database.run((sql) => put(sql, checkpoint)),

    /** Stores a checkpoint that was built here. */
    putBuilt: (checkpoint: Checkpoint.Checkpoint) =>
      database.run((sql) => {
        put(sql, { checkpoint, signatures: [], hasQuorum: false })
        sql`update checkpoints set is_built = 1 where round = ${checkpoint.round}`.run()
      }),

    /** Checkpoints built here, and those signed by a quorum, each ordered by round. */
    ofEpoch: (epoch: Epoch) =>
      database.read((sql) =>
        Effect.gen(function* () {
          const all = `select ${COLUMNS}, is_built from checkpoints where epoch = ? order by round`
          const rows = yield* sql.text(all, [epoch]).values
          return {
            built: rows.filter((row) => Column.boolean(row, 4)).map(contentOf),
            signed: yield* Effect.forEach(
              rows.filter((row) => Column.boolean(row, 1)),
              (row) => withSignatures(sql, row),
            ),
          }
        }),
      ),

    at: (round: Round) => one("where round = ?", round),
    byHash: (hash: Hash) => one("where hash = ?", fromHex(hash)),
    /** The first one signed by a quorum at this round or later. */
    firstSince: (round: Round) => one("where has_quorum = 1 and round >= ? order by round limit 1", round),
    latestWithQuorum: one("where has_quorum = 1 order by round desc limit 1"),
    /** Up to `limit` checkpoints signed by a quorum before this round, newest first; optionally closing ones only. */
    before: (round: Round, limit: number, isClosing: boolean) =>
      select(
        `where has_quorum = 1 and round < ? ${isClosing ? "and is_closing = 1" : ""} order by round desc limit ?`,
        round,
        limit,
      ),
    latestClosing: one("where is_closing = 1 order by epoch desc limit 1"),
    /** Up to `limit` closing checkpoints from this epoch on, in order. */
    closing: (from: Epoch, limit: number) =>
      select("where is_closing = 1 and epoch >= ? order by epoch limit ?", from, limit),
    /** Deletes some old checkpoints that close no epoch. Returns whether there can be more. */
    prune: Prune.onwards(database, pruneBehind),
  }
}
