/** Every ledger record except accounts, as of the last commit. */
import { Effect, Either } from "effect"
import { fromHex } from "#crypto"
import * as Records from "../../ledger/tables/Records.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { StateRecord } from "../../protocol/state/StateRecord.js"
import type { StorageError } from "../files/StorageError.js"
import * as Bulk from "../sqlite/Bulk.js"
import * as Column from "../sqlite/Column.js"
import type { Value } from "../sqlite/Connection.js"
import type { Database } from "../sqlite/Database.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Pages from "./Pages.js"

const PAGE_ROWS = 4_096

type Place = Pick<StateRecord, "kind" | "key">

/** The kind and key at the start of a row. */
export const placeOf = (row: Column.Row): Place => {
  const byte = Column.integer(row, 0)
  const kind = StateKey.kindOf(byte)
  if (kind === undefined) throw new Column.UnexpectedValue(`a record of kind ${byte}`)
  return { kind, key: Column.bytes(row, 1) }
}

/** Kind and key as columns; lower than all others for no record. */
export const columnsOf = (place: Place | undefined): readonly [kind: number, key: Uint8Array] =>
  place === undefined ? [0, new Uint8Array(0)] : [StateKey.KINDS[place.kind].byte, place.key]

const recordOf = (row: Column.Row): StateRecord => ({ ...placeOf(row), value: Column.bytes(row, 2) })

const signingKeyIn = (value: Uint8Array): Records.SigningKey =>
  Either.getOrElse(Records.decode(Records.signingKey, value), ({ message }) => {
    throw new Column.UnexpectedValue(message)
  })

const insert = Bulk.insert(
  "records (kind, key, value)",
  3,
  "on conflict (kind, key) do update set value = excluded.value",
)

const remove = Bulk.remove("records", ["kind", "key"])

/** Writes changed records. Part of a commit's transaction. */
export class Changes {
  readonly #rows: Array<Value> = []
  readonly #gone: Array<Value> = []

  add(kind: StateKey.Kind, key: Uint8Array, value: Uint8Array | null): void {
    const { byte } = StateKey.KINDS[kind]
    if (value === null) this.#gone.push(byte, key)
    else this.#rows.push(byte, key, value)
  }

  write(sql: Sql): void {
    insert(sql, this.#rows)
    remove(sql, this.#gone)
  }
}

export const make = (database: Database) => {
  const page = (last: StateRecord | undefined) =>
    database.select(
      recordOf,
      "select kind, key, value from records where (kind, key) > (?, ?) order by kind, key limit ?",
      ...columnsOf(last),
      PAGE_ROWS,
    )

  return {
    /** The account of the validator that signs, or has signed, with the key of this address. */
    accountOf: (key: Address): Effect.Effect<Address, StorageError> =>
      Effect.map(
        database.select(
          (row) => Column.bytes(row, 0),
          "select value from records where kind = ? and key = ?",
          StateKey.KINDS.SigningKey.byte,
          fromHex(key),
        ),
        ([value]) => (value === undefined ? key : signingKeyIn(value).account),
      ),
    /** Passes every record to `visit`, some thousands at a time, ordered by kind and key. */
    load: (visit: (page: ReadonlyArray<StateRecord>) => void) =>
      Effect.withSpan(Pages.visited(PAGE_ROWS, page, visit), "records"),
  }
}
