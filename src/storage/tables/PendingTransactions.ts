/** The mempool's transactions, which survive a restart. */
import { fromHex } from "#crypto"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Timestamp } from "../../protocol/numbers/Natural.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import * as Bulk from "../sqlite/Bulk.js"
import * as Column from "../sqlite/Column.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"

export interface PendingTransaction {
  readonly transaction: Pick<Transaction, "id" | "encoded">
  readonly receivedAt: Timestamp
}

const insert = Bulk.insert("pending_transactions (hash, received_at, bytes)", 3, "on conflict (hash) do nothing")

const removeAll = Bulk.remove("pending_transactions", ["hash"])

/** Deletes transactions. Also part of the commit's transaction that executed them. */
export const remove = (sql: Sql, ids: ReadonlyArray<Hash>): void => removeAll(sql, ids.map(fromHex))

export const make = (database: Database) => ({
  /** Writes arrivals and departures since the last update. */
  update: (added: ReadonlyArray<PendingTransaction>, removed: ReadonlyArray<Hash>) =>
    database.run((sql) => {
      remove(sql, removed)
      insert(
        sql,
        added.flatMap(({ transaction, receivedAt }) => [fromHex(transaction.id), receivedAt, transaction.encoded]),
      )
    }),
  /** In order of arrival; `bytes` is the encoded transaction. */
  all: database.select(
    (row) => ({
      id: Column.hash(row, 0),
      receivedAt: Column.counter<Timestamp>(row, 1),
      bytes: Column.bytes(row, 2),
    }),
    "select hash, received_at, bytes from pending_transactions order by received_at, rowid",
  ),
})
