/** Prefix search in the archive: a gateway can show everything it finds here. */
import { Effect } from "effect"
import { fromHex } from "#crypto"
import type { DatabaseFailed } from "../archive/ArchiveError.js"
import type { Row, Statements, Value } from "../archive/Postgres.js"
import type { AddressPrefix } from "../protocol/identity/Network.js"
import * as SearchPrefix from "../protocol/identity/SearchPrefix.js"
import * as Column from "./Column.js"

const MOST = 5
const ADDRESS_DIGITS = 40
const HASH_DIGITS = 64
/** Sorts after every character that a name can contain. */
const AFTER = "~"

export const NAMES = `select name, address from accounts
where name is not null and name collate "C" >= $1 and name collate "C" < $2 order by name collate "C" limit $3`
export const ADDRESSES = "select address from accounts where address between $1 and $2 order by address limit $3"
export const TRANSACTIONS = "select hash from transactions where hash between $1 and $2 order by hash limit $3"
export const VERTICES = "select hash from vertices where hash between $1 and $2 order by hash limit $3"

const nameOf = (row: Row) => ({ name: Column.text(row, 0), address: Column.address(row, 1) })

export const beginningWith = ({ rows }: Statements, text: string, prefix: AddressPrefix) => {
  const found = <A>(
    statement: string,
    range: readonly [Value, Value],
    read: (row: Row, i: number) => A,
  ): Effect.Effect<ReadonlyArray<A>, DatabaseFailed> =>
    Effect.map(rows(statement, [...range, MOST]), (found) => found.map((row) => read(row, 0)))
  const byDigits = <A>(
    statement: string,
    digits: string | undefined,
    length: number,
    read: (row: Row, i: number) => A,
  ): Effect.Effect<ReadonlyArray<A>, DatabaseFailed> =>
    digits === undefined || digits.length > length
      ? Effect.succeed([])
      : found(statement, [fromHex(digits.padEnd(length, "0")), fromHex(digits.padEnd(length, "f"))], read)
  const { name, address, hash, fits } = SearchPrefix.read(text, prefix)
  return Effect.all({
    names: name === undefined ? Effect.succeed([]) : found(NAMES, [name, `${name}${AFTER}`], nameOf),
    accounts: Effect.map(byDigits(ADDRESSES, address, ADDRESS_DIGITS, Column.address), (all) => all.filter(fits)),
    transactions: byDigits(TRANSACTIONS, hash, HASH_DIGITS, Column.hash),
    vertices: byDigits(VERTICES, hash, HASH_DIGITS, Column.hash),
  })
}
