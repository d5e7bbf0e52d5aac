/** What the tests use of it: it brings no types. */
declare module "better-sqlite3" {
  export default class Database {
    constructor(file: string, options: { readonly readonly: boolean })
    prepare(statement: string): { all(): ReadonlyArray<unknown>; run(): unknown }
    close(): void
  }
}
