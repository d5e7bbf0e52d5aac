/**
 * Reads a row's columns. The tables are STRICT, so a value of another type means damage and not a caller's mistake:
 * these functions throw `UnexpectedValue`, which the database turns into `DatabaseDamaged`.
 */
import { toHex } from "#crypto"
import * as Hex from "../../protocol/encoding/Hex.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"

export type Row = ReadonlyArray<unknown>

export class UnexpectedValue extends Error {}

const refuse = (expected: string, value: unknown): never => {
  throw new UnexpectedValue(`expected ${expected}, found ${value === null ? "null" : typeof value}`)
}

export const integer = (row: Row, column: number): number => {
  const value = row[column]
  return typeof value === "number" && Number.isSafeInteger(value) ? value : refuse("an integer", value)
}

export const counter = <A extends Natural.Natural>(row: Row, column: number): A => {
  const value = integer(row, column)
  return value >= 0 ? Natural.make<A>(value) : refuse("a counter", value)
}

export const boolean = (row: Row, column: number): boolean => integer(row, column) === 1

export const text = (row: Row, column: number): string => {
  const value = row[column]
  return typeof value === "string" ? value : refuse("a text", value)
}

export const bytes = (row: Row, column: number): Uint8Array => {
  const value = row[column]
  // The driver returns Buffers; a plain view behaves like all other byte strings of the program.
  return value instanceof Uint8Array
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : refuse("bytes", value)
}

export const hash = (row: Row, column: number): Hash.Hash => {
  const value = bytes(row, column)
  return value.length === Hash.BYTES ? (toHex(value) as Hash.Hash) : refuse("a hash", value)
}

export const address = (row: Row, column: number): Address.Address => {
  const value = bytes(row, column)
  return value.length === Address.BYTES ? (toHex(value) as Address.Address) : refuse("an address", value)
}

export const addressText = (row: Row, column: number): Address.Address => {
  const value = text(row, column)
  return Hex.isHex(value, Address.BYTES) ? (value as Address.Address) : refuse("an address", value)
}

/** Reads a nullable column. */
export const nullable = <A>(row: Row, column: number, read: (row: Row, column: number) => A): A | null =>
  row[column] === null ? null : read(row, column)
