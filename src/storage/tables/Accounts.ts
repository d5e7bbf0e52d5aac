/** The accounts as of the last commit. */
import { Effect } from "effect"
import { fromHex, toHex } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { StateRecord } from "../../protocol/state/StateRecord.js"
import * as Bulk from "../sqlite/Bulk.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Pages from "./Pages.js"

/** An account's columns, unchecked, so that the supply count sees edits of the file. */
export interface StoredAccount {
  readonly address: Address
  readonly balance: number
  readonly nonce: number
  /** The account record after balance and nonce; null if there is nothing else, as for nearly all accounts. */
  readonly extras: Uint8Array | null
}

/** The column value without extras. */
const NO_EXTRAS = Uint8Array.of(0)

/** An account record starts with balance and nonce, eight bytes each. */
const EXTRAS_OFFSET = 16
const PAGE_ROWS = 8_192

/** The record in these columns. Throws for an invalid balance or nonce. */
export const toRecord = ({ address, balance, nonce, extras }: StoredAccount): StateRecord => ({
  kind: "Account",
  key: fromHex(address),
  value: Binary.encode((writer) =>
    writer
      .u64(balance)
      .u64(nonce)
      .raw(extras ?? NO_EXTRAS),
  ),
})

const accountOf = (row: Column.Row): StoredAccount => ({
  address: Column.addressText(row, 0),
  balance: Column.integer(row, 1),
  nonce: Column.integer(row, 2),
  extras: Column.nullable(row, 3, Column.bytes),
})

const insert = Bulk.insert(
  "accounts (address, balance, nonce, extras)",
  4,
  `on conflict (address) do update
    set balance = excluded.balance, nonce = excluded.nonce, extras = excluded.extras`,
)

const remove = Bulk.remove("accounts", ["address"])

/** Writes changed accounts. Part of a commit's transaction. */
export class Changes {
  readonly #rows: Array<Value> = []
  readonly #gone: Array<Value> = []

  add(key: Uint8Array, value: Uint8Array | null): void {
    const address = toHex(key)
    if (value === null) {
      this.#gone.push(address)
      return
    }
    const reader = new Binary.Reader(value)
    this.#rows.push(address, reader.u64(), reader.u64(), value.subarray(EXTRAS_OFFSET))
  }

  write(sql: Sql): void {
    insert(sql, this.#rows)
    remove(sql, this.#gone)
  }
}

export const make = (database: Database) => {
  const page = (last: StoredAccount | undefined) =>
    database.select(
      accountOf,
      // A byte string costs as much as the rest of the row.
      `select address, balance, nonce, nullif(extras, ?) from accounts where address > ? order by address limit ?`,
      NO_EXTRAS,
      last?.address ?? "",
      PAGE_ROWS,
    )

  return {
    /** Passes every account to `visit`, some thousands at a time, ordered by address. */
    load: (visit: (page: ReadonlyArray<StoredAccount>) => void) =>
      Effect.withSpan(Pages.visited(PAGE_ROWS, page, visit), "accounts"),
    /** The first addresses that begin with these hex digits. */
    beginningWith: (digits: string, limit: number) =>
      database.select(
        (row) => Column.addressText(row, 0),
        "select address from accounts where address >= ? and address < ? order by address limit ?",
        digits,
        `${digits}g`,
        limit,
      ),
    count: Effect.map(
      database.select((row) => Column.integer(row, 0), "select count(*) from accounts"),
      ([count = 0]) => count,
    ),
  }
}
