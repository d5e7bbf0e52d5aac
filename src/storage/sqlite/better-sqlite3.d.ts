/** The part of it that we use; it brings no types. */
declare module "better-sqlite3" {
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

  export default class Database {
    constructor(file: string, options?: { readonly readonly: boolean })
    readonly inTransaction: boolean
    prepare(statement: string): Statement
    exec(statements: string): unknown
    pragma(text: string): unknown
    /** Allows statements that may damage the database. */
    unsafeMode(on: boolean): void
    close(): void
  }
}
