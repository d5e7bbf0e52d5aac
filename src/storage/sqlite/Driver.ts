/**
 * SQLite's driver, which keeps every statement for the life of its thread.
 *
 * From Node 24 on, collecting a statement as garbage can end the process: the driver's native objects then leave the
 * list of objects that Node cleans up at the end of a thread, and Node aborts ("Assertion failed: (env) != nullptr") if
 * the collector runs them outside of any call, as it does under load. Version 13 of the driver has other native
 * objects, but does not run on Node 20. So nothing of the driver becomes garbage here: closing a database frees
 * SQLite's memory, and Node frees the rest at the end of the thread. The remainder is a small object for each statement
 * of a connection.
 */
import { createRequire } from "node:module"

/** The part of the driver that we use; it brings no types, and a program that uses ours shall not need any of its own. */
interface Statement {
  /** Whether it returns rows. */
  readonly reader: boolean
  all(...values: ReadonlyArray<unknown>): ReadonlyArray<unknown>
  get(...values: ReadonlyArray<unknown>): unknown
  run(...values: ReadonlyArray<unknown>): unknown
  /** Rows as arrays. */
  raw(): RawStatement
}

interface RawStatement {
  all(...values: ReadonlyArray<unknown>): ReadonlyArray<ReadonlyArray<unknown>>
  get(...values: ReadonlyArray<unknown>): unknown
}

interface Database {
  readonly inTransaction: boolean
  prepare(statement: string): Statement
  exec(statements: string): unknown
  pragma(text: string): unknown
  /** Allows statements that may damage the database. */
  unsafeMode(on: boolean): void
  close(): void
}

interface Driver {
  readonly prototype: Database
  new (file: string, options?: { readonly readonly: boolean }): Database
}

// Not imported: the driver is CommonJS, and brings nothing but itself.
export const Sqlite: Driver = createRequire(import.meta.url)("better-sqlite3")

const reachable = new Set<object>()
const { prepare } = Sqlite.prototype

Sqlite.prototype.prepare = function (text) {
  const statement = prepare.call(this, text)
  reachable.add(this).add(statement)
  return statement
}
