/** What begins with some hex digits, out of the archive: whatever is found here, a gateway can show. */
import { Effect } from "effect"
import { fromHex } from "#crypto"
import type { DatabaseFailed } from "../archive/ArchiveError.js"
import type { Row, Statements } from "../archive/Postgres.js"
import * as Column from "./Column.js"

/** Of each kind. */
const MOST = 5
const ADDRESS_DIGITS = 40
const HASH_DIGITS = 64

export const ADDRESSES = "select address from accounts where address between $1 and $2 order by address limit $3"
export const TRANSACTIONS = "select hash from transactions where hash between $1 and $2 order by hash limit $3"
export const VERTICES = "select hash from vertices where hash between $1 and $2 order by hash limit $3"

export const beginningWith = ({ rows }: Statements, digits: string) => {
  const found = <A>(
    statement: string,
    length: number,
    read: (row: Row, i: number) => A,
  ): Effect.Effect<ReadonlyArray<A>, DatabaseFailed> =>
    digits.length > length
      ? Effect.succeed([])
      : Effect.map(
          rows(statement, [fromHex(digits.padEnd(length, "0")), fromHex(digits.padEnd(length, "f")), MOST]),
          (found) => found.map((row) => read(row, 0)),
        )
  return Effect.all({
    accounts: found(ADDRESSES, ADDRESS_DIGITS, Column.address),
    transactions: found(TRANSACTIONS, HASH_DIGITS, Column.hash),
    vertices: found(VERTICES, HASH_DIGITS, Column.hash),
  })
}
