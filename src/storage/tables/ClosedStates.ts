/**
 * The states at the close of recent epochs, stored as differences that lead from the present state back to the last
 * close, and from there to the one before. A record is stored at its first change in an epoch, in the same transaction,
 * so after any crash the way back is complete.
 */
import { Effect } from "effect"
import { fromHex, toHex } from "#crypto"
import type { Change } from "../../ledger/tables/Effects.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import * as Bulk from "../sqlite/Bulk.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Accounts from "./Accounts.js"
import * as Pages from "./Pages.js"
import * as Records from "./Records.js"

const PAGE_ROWS = 4_096

const keepAccounts = Bulk.from(
  2,
  (keys) => `insert or ignore into accounts_before (epoch, address, balance, nonce, extras)
    select changed.column1, changed.column2, a.balance, a.nonce, a.extras
    from (values ${keys}) changed left join accounts a on a.address = changed.column2`,
)

const keepRecords = Bulk.from(
  3,
  (keys) => `insert or ignore into records_before (epoch, kind, key, value)
    select changed.column1, changed.column2, changed.column3, r.value
    from (values ${keys}) changed left join records r on r.kind = changed.column2 and r.key = changed.column3`,
)

/** Stores records before they change, unless this epoch has already changed them. Part of a commit's transaction. */
export const keep = (sql: Sql, closed: Epoch, changes: Iterable<Pick<Change, "kind" | "key">>): void => {
  const accounts: Array<Value> = []
  const records: Array<Value> = []
  for (const { kind, key } of changes) {
    if (kind === "Account") accounts.push(closed, toHex(key))
    else records.push(closed, StateKey.KINDS[kind].byte, key)
  }
  keepAccounts(sql, accounts)
  keepRecords(sql, records)
}

const accountOf = (row: Column.Row): Change => {
  const address = Column.addressText(row, 0)
  const balance = Column.nullable(row, 1, Column.counter)
  if (balance === null) return { kind: "Account", key: fromHex(address), value: null }
  return Accounts.toRecord({ address, balance, nonce: Column.counter(row, 2), extras: Column.bytes(row, 3) })
}

const recordOf = (row: Column.Row): Change => ({
  ...Records.placeOf(row),
  value: Column.nullable(row, 2, Column.bytes),
})

export const make = (database: Database) => {
  const accounts = (epoch: Epoch) => (last: Change | undefined) =>
    database.select(
      accountOf,
      `select address, balance, nonce, extras from accounts_before
        where epoch = ? and address > ? order by address limit ?`,
      epoch,
      last === undefined ? "" : toHex(last.key),
      PAGE_ROWS,
    )

  const records = (epoch: Epoch) => (last: Change | undefined) =>
    database.select(
      recordOf,
      `select kind, key, value from records_before
        where epoch = ? and (kind, key) > (?, ?) order by kind, key limit ?`,
      epoch,
      ...Records.columnsOf(last),
      PAGE_ROWS,
    )

  const prune = (table: string, key: string, before: Epoch, limit: number) =>
    database.write((sql) =>
      Effect.map(
        sql.text(
          `delete from ${table} where (epoch, ${key}) in
            (select epoch, ${key} from ${table} where epoch < ? limit ?) returning epoch`,
          [before, limit],
        ).values,
        (rows) => rows.length,
      ),
    )

  return {
    /**
     * Passes records to `visit`, some thousands at a time, whose value at this epoch's close differs from that at the
     * next close, or from the present one if the next epoch has not closed. They have the old value, null for records
     * that did not exist.
     */
    load: (epoch: Epoch, visit: (page: ReadonlyArray<Change>) => void) =>
      Effect.zipRight(
        Pages.visited(PAGE_ROWS, accounts(epoch), visit),
        Pages.visited(PAGE_ROWS, records(epoch), visit),
      ),

    /** Deletes some differences of earlier closes. Returns how many: less than the limit if none are left. */
    prune: (before: Epoch, limit: number) =>
      Effect.gen(function* () {
        const accounts = yield* prune("accounts_before", "address", before, limit)
        return accounts + (yield* prune("records_before", "kind, key", before, limit - accounts))
      }),
  }
}
