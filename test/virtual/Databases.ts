/** A killed process leaves its databases as the system does: without the locks, and without what was not committed. */
import { createRequire } from "node:module"
import type { Sqlite } from "../../src/storage/sqlite/Driver.js"
import * as Universe from "./Universe.js"

type Database = InstanceType<typeof Sqlite>

/** Notes whose databases are whose, from their first use on. */
export const install = (): void => {
  const { prototype }: { prototype: Database } = createRequire(import.meta.url)("better-sqlite3")
  const forget = new WeakMap<Database, () => void>()
  const { prepare, exec, pragma, close } = prototype
  const note = (database: Database): void => {
    if (!forget.has(database))
      forget.set(
        database,
        Universe.here().time.here.onDeath(() => close.call(database)),
      )
  }
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
  prototype.close = function () {
    forget.get(this)?.()
    return close.call(this)
  }
}
