/** What the tests use of it: it brings no types. */
declare module "better-sqlite3" {
  interface Statement {
    all(): ReadonlyArray<unknown>
    get(...values: ReadonlyArray<unknown>): unknown
    run(...values: ReadonlyArray<unknown>): unknown
    /** Rows as arrays. */
    raw(): Statement
  }

  export default class Database {
    constructor(file: string, options?: { readonly readonly: boolean })
    prepare(statement: string): Statement
    pragma(text: string): unknown
    /** Lets statements do what may damage the database. */
    unsafeMode(on: boolean): void
    close(): void
  }
}
