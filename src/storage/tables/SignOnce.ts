/** What a remote signer has signed with each key. A signature leaves the signer only once its row is on disk. */
import { Effect, Option } from "effect"
import { fromHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { PublicKey } from "../../protocol/identity/Keys.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import * as FileMark from "../files/FileMark.js"
import type { StorageError } from "../files/StorageError.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"

interface Place {
  readonly epoch: Epoch
  readonly round: Round
}

interface Said extends Place {
  readonly digest: Hash
}

/** See `Memory` in signer/Judge.ts. */
export interface Kept {
  readonly taken: Place
  readonly lastVertex: (Said & { readonly base: Hash }) | null
  readonly checkpointsTaken: Place
  readonly checkpoints: ReadonlyArray<Said>
  readonly isRestored: boolean
}

const placeAt = (row: Column.Row, column: number): Place => ({
  epoch: Column.counter<Epoch>(row, column),
  round: Column.counter<Round>(row, column + 1),
})

const saidOf = (row: Column.Row): Said => ({ ...placeAt(row, 0), digest: Column.hash(row, 2) })

const keyOf = (row: Column.Row): Omit<Kept, "checkpoints"> => {
  const taken = placeAt(row, 0)
  const base = Column.nullable(row, 2, Column.hash)
  const digest = Column.nullable(row, 3, Column.hash)
  const lastVertex = base === null || digest === null ? null : { ...taken, base, digest }
  return { taken, lastVertex, checkpointsTaken: placeAt(row, 4), isRestored: Column.boolean(row, 6) }
}

const bytesOf = (hash: Hash | undefined): Uint8Array | null => (hash === undefined ? null : fromHex(hash))

const putKey = (sql: Sql, key: Uint8Array, { taken, lastVertex, checkpointsTaken, isRestored }: Kept): void =>
  sql`insert or replace into signing_keys (public_key, taken_epoch, taken_round, base, digest,
      checkpoints_taken_epoch, checkpoints_taken_round, is_restored)
    values (${key}, ${taken.epoch}, ${taken.round}, ${bytesOf(lastVertex?.base)}, ${bytesOf(lastVertex?.digest)},
      ${checkpointsTaken.epoch}, ${checkpointsTaken.round}, ${isRestored ? 1 : 0})`.run()

/** Writes only the checkpoints that were added, and removes those dropped for them. */
const putCheckpoints = (sql: Sql, key: Uint8Array, { checkpoints, checkpointsTaken }: Kept): void => {
  for (const { epoch, round, digest } of checkpoints) {
    sql`insert or ignore into signed_checkpoints (public_key, epoch, round, digest)
      values (${key}, ${epoch}, ${round}, ${fromHex(digest)})`.run()
  }
  sql`delete from signed_checkpoints where public_key = ${key}
    and (epoch, round) <= (${checkpointsTaken.epoch}, ${checkpointsTaken.round})`.run()
}

const markOf = (row: Column.Row): FileMark.FileMark => ({
  inode: Column.nullable(row, 0, Column.text),
  born: Column.nullable(row, 1, Column.text),
})

/**
 * Compares the file with the mark in it. In a copy, all keys are marked as restored. Both change in one transaction, so
 * that a crash at any time leaves a file that is either recognized or taken for a copy.
 */
export const recognize = (database: Database, found: FileMark.FileMark): Effect.Effect<void, StorageError> =>
  database.write((sql) =>
    Effect.map(sql`select inode, born from file_mark`.values, (rows) => {
      const before = rows.map(markOf)[0] ?? { inode: null, born: null }
      const isSame = FileMark.canBeSame(before, found)
      if (!isSame) sql`update signing_keys set is_restored = 1`.run()
      const { inode, born } = isSame ? { inode: found.inode ?? before.inode, born: found.born ?? before.born } : found
      sql`insert or replace into file_mark (id, inode, born) values (1, ${inode}, ${born})`.run()
    }),
  )

export const make = (database: Database) => ({
  /** None if nothing is known about the key's signatures. */
  of: (publicKey: PublicKey) =>
    Effect.gen(function* () {
      const key = fromHex(publicKey)
      const row = yield* database.first(
        keyOf,
        `select taken_epoch, taken_round, base, digest, checkpoints_taken_epoch, checkpoints_taken_round,
          is_restored from signing_keys where public_key = ?`,
        key,
      )
      if (Option.isNone(row)) return Option.none<Kept>()
      const checkpoints = yield* database.select(
        saidOf,
        "select epoch, round, digest from signed_checkpoints where public_key = ? order by epoch, round",
        key,
      )
      return Option.some<Kept>({ ...row.value, checkpoints })
    }),

  /** Returns once it is on disk. */
  put: (publicKey: PublicKey, kept: Kept, changed: "vertex" | "checkpoints") =>
    database.run((sql) => {
      const key = fromHex(publicKey)
      putKey(sql, key, kept)
      if (changed === "checkpoints") putCheckpoints(sql, key, kept)
    }),
})
