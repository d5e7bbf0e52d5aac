/** A killed process leaves its databases as the system does: without the locks, and without what was not committed. */
import { createRequire } from "node:module"
import type { Sqlite } from "../../src/storage/sqlite/Driver.js"
import * as Universe from "./Universe.js"

type Database = InstanceType<typeof Sqlite>

/** Notes whose databases are whose, from their first use on. */
export const install = (): void => {
  const { prototype }: { prototype: Database } = createRequire(import.meta.url)("better-sqlite3")
  const seen = new WeakSet<Database>()
  const note = (database: Database): void => {
    if (seen.has(database)) return
    seen.add(database)
    const forget = Universe.here().time.here.onDeath(() => close.call(database))
    Object.defineProperty(database, "forget", { value: forget })
  }
  const { prepare, exec, pragma, close } = prototype
  prototype.prepare = function (text) {
    note(this)
    return prepare.call(this, text)
  }
  prototype.exec = function (text) {
    note(this)
    return exec.call(this, text)
  }
  prototype.pragma = function (text) {
    note(this)
    return pragma.call(this, text)
  }
  prototype.close = function (this: Database & { readonly forget?: () => void }) {
    this.forget?.()
    return close.call(this)
  }
}
