/** What the tests use of it: it brings no types. */
declare module "better-sqlite3" {
  export default class Database {
    constructor(file: string, options?: { readonly readonly: boolean })
    prepare(statement: string): { all(): ReadonlyArray<unknown>; run(...values: ReadonlyArray<unknown>): unknown }
    pragma(text: string): unknown
    /** Lets statements do what may damage the database. */
    unsafeMode(on: boolean): void
    close(): void
  }
}
