/** The transactions of the mempool, so that they survive a restart. */
import { Effect } from "effect"
import { fromHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { StorageError } from "../files/StorageError.js"
import * as Bulk from "../sqlite/Bulk.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"

export interface PendingTransaction {
  readonly transaction: Pick<Transaction, "id" | "encoded">
  readonly receivedAt: Timestamp
}

export interface StoredPendingTransaction {
  readonly id: Hash
  readonly receivedAt: Timestamp
  /** The encoded transaction. */
  readonly bytes: Uint8Array
}

export interface PendingTransactions {
  /** The arrivals and departures since the last update, in one write. */
  readonly update: (
    added: ReadonlyArray<PendingTransaction>,
    removed: ReadonlyArray<Hash>,
  ) => Effect.Effect<void, StorageError>
  /** In the order of arrival. */
  readonly all: Effect.Effect<ReadonlyArray<StoredPendingTransaction>, StorageError>
}

const insert = Bulk.insert("pending_transactions (hash, received_at, bytes)", 3, "on conflict (hash) do nothing")

const removeAll = Bulk.remove("pending_transactions", ["hash"])

/** Deletes transactions; also part of the commit's transaction that executed them. */
export const remove = (sql: Sql, ids: ReadonlyArray<Hash>): void => removeAll(sql, ids.map(fromHex))

export const make = (database: Database): PendingTransactions => ({
  update: (added, removed) =>
    database.write((sql) =>
      Effect.sync(() => {
        remove(sql, removed)
        insert(
          sql,
          added.flatMap(({ transaction, receivedAt }) => [fromHex(transaction.id), receivedAt, transaction.encoded]),
        )
      }),
    ),

  all: database.read((sql) =>
    Effect.map(
      sql`select hash, received_at, bytes from pending_transactions order by received_at, rowid`.values,
      (rows) =>
        rows.map((row) => ({
          id: Column.hash(row, 0),
          receivedAt: Column.counter(row, 1),
          bytes: Column.bytes(row, 2),
        })),
    ),
  ),
})
