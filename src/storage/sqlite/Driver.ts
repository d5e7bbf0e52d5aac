/**
 * SQLite's driver, which keeps every statement for the life of its thread.
 *
 * From Node.js 24 on, garbage-collecting a statement can end the process: the driver's native objects leave the list of
 * objects that Node.js cleans up at the end of a thread, and Node.js aborts ("Assertion failed: (env) != nullptr") if
 * the collector runs them outside of a call, as it does under load. Version 13 of the driver has other native objects
 * but does not run on Node.js 20. So none of the driver's objects becomes garbage here: closing a database frees
 * SQLite's memory, and Node.js frees the rest, a small object per statement and connection, at the end of the thread.
 */
import { createRequire } from "node:module"

/** The part of the driver that we use. It brings no types, and programs that use ours should not need any. */
interface Statement {
  /** Whether it returns rows. */
  readonly reader: boolean
  all(...values: ReadonlyArray<unknown>): ReadonlyArray<unknown>
  get(...values: ReadonlyArray<unknown>): unknown
  run(...values: ReadonlyArray<unknown>): unknown
  /** Returns rows as arrays. */
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
  /** Allows statements that can damage the database. */
  unsafeMode(on: boolean): void
  close(): void
}

interface Driver {
  readonly prototype: Database
  new (file: string, options?: { readonly readonly: boolean }): Database
}

// Not imported, because the driver is CommonJS.
export const Sqlite: Driver = createRequire(import.meta.url)("better-sqlite3")

const reachable = new Set<object>()
const { prepare } = Sqlite.prototype

Sqlite.prototype.prepare = function (text) {
  const statement = prepare.call(this, text)
  reachable.add(this).add(statement)
  return statement
}
