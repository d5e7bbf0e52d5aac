/** Reads columns of PostgreSQL rows: large numbers arrive as text, bytes as bytes. */
import { toHex } from "#crypto"
import type { Row } from "../archive/Postgres.js"
import type { Address } from "../protocol/identity/Address.js"
import type { Hash } from "../protocol/identity/Hash.js"

export const integer = (row: Row, i: number): number => {
  const value = Number(row[i])
  if (row[i] === null || !Number.isSafeInteger(value)) throw new Error(`column ${i}: expected an integer`)
  return value
}

export const text = (row: Row, i: number): string => {
  const value = row[i]
  if (typeof value !== "string") throw new Error(`column ${i}: expected text`)
  return value
}

export const bytes = (row: Row, i: number): Uint8Array => {
  const value = row[i]
  if (!(value instanceof Uint8Array)) throw new Error(`column ${i}: expected bytes`)
  return value
}

export const nullable = <A>(row: Row, i: number, read: (row: Row, i: number) => A): A | null =>
  row[i] === null ? null : read(row, i)

/** The archive wrote 32 bytes there. */
export const hash = (row: Row, i: number): Hash => toHex(bytes(row, i)) as Hash

/** The archive wrote 20 bytes there. */
export const address = (row: Row, i: number): Address => toHex(bytes(row, i)) as Address
