/** The state as of the last commit: each account and each other record once. */
import { Effect } from "effect"
import { toHex } from "#crypto"
import type { Change } from "../ledger/tables/Effects.js"
import type * as AccountRecord from "../protocol/state/AccountRecord.js"
import { KINDS } from "../protocol/state/StateKey.js"
import type { Statements } from "./Postgres.js"
import { type Columns, Rows } from "./Rows.js"

interface Account {
  readonly key: Uint8Array
  readonly index: number
  readonly account: AccountRecord.AccountRecord | null
  readonly value: Uint8Array
}

const hasExtras = ({ stake, delegation, policy, name, publicKey, isCouncilMember }: AccountRecord.Extras): boolean =>
  isCouncilMember || [stake, delegation, policy, name, publicKey].some((extra) => extra !== null)

/** Replaces all but the first `keys` columns of an existing row; a `lasting` one stays true. */
const upsert = <C extends Columns>(table: string, columns: C, keys: number, lasting = ""): Rows<C> => {
  const names = Object.keys(columns)
  const set = names
    .slice(keys)
    .map((name) => `${name} = excluded.${name}${name === lasting ? ` or ${table}.${name}` : ""}`)
  return new Rows(table, columns, `on conflict (${names.slice(0, keys).join()}) do update set ${set.join()}`)
}

/** Only the last change of a key counts. */
export class CurrentRows {
  readonly #accounts = new Map<string, Account>()
  readonly #records = new Map<string, Change & { readonly index: number }>()

  account(index: number, key: Uint8Array, account: AccountRecord.AccountRecord | null, value: Uint8Array): void {
    this.#accounts.set(toHex(key), { key, index, account, value })
  }

  record(index: number, change: Change): void {
    this.#records.set(`${change.kind} ${toHex(change.key)}`, { ...change, index })
  }

  write(sql: Statements) {
    return Effect.gen(this, function* () {
      const gone = [...this.#accounts.values()].filter(({ account }) => account === null).map(({ key }) => key)
      if (gone.length > 0) yield* sql.rows("delete from accounts where address = any($1::bytea[])", [gone])
      yield* this.#accountRows().write(sql)
      yield* this.#writeRecords(sql)
    })
  }

  #accountRows() {
    const rows = upsert(
      "accounts",
      {
        address: "bytea",
        commit_index: "bigint",
        balance: "bigint",
        nonce: "bigint",
        record: "bytea",
        has_extras: "boolean",
        name: "text",
        stake: "bigint",
        validator: "hex",
      },
      1,
      "has_extras",
    )
    for (const { key, index, account, value } of this.#accounts.values()) {
      if (account === null) continue
      const { balance, nonce, name, stake, delegation } = account
      rows.add({
        address: key,
        commit_index: index,
        balance,
        nonce,
        record: value,
        has_extras: hasExtras(account),
        name,
        stake: stake?.amount ?? null,
        validator: delegation?.validator ?? null,
      })
    }
    return rows
  }

  #writeRecords(sql: Statements) {
    const rows = upsert("records", { kind: "smallint", key: "bytea", commit_index: "bigint", value: "bytea" }, 2)
    const gone: { readonly kinds: Array<number>; readonly keys: Array<Uint8Array> } = { kinds: [], keys: [] }
    for (const { kind, key, value, index } of this.#records.values()) {
      const { byte } = KINDS[kind]
      if (value !== null) rows.add({ kind: byte, key, commit_index: index, value })
      else {
        gone.kinds.push(byte)
        gone.keys.push(key)
      }
    }
    const remove =
      gone.keys.length === 0
        ? Effect.void
        : sql.rows("delete from records where (kind, key) in (select * from unnest($1::smallint[], $2::bytea[]))", [
            gone.kinds,
            gone.keys,
          ])
    return Effect.zipRight(remove, rows.write(sql))
  }
}
