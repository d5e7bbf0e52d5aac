import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { Sqlite } from "../../src/storage/sqlite/Driver.js"
import { withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const collectGarbage = async (): Promise<void> => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  // A WeakRef that was dereferenced keeps its target until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve))
  if (typeof collect === "function") collect()
}

describe("the driver", () => {
  test("keeps a statement and its database alive without other references", async () => {
    const made = ((): ReadonlyArray<WeakRef<object>> => {
      const database = new Sqlite(":memory:")
      const statement = database.prepare("select 1")
      database.close()
      return [database, statement, {}].map((each) => new WeakRef(each))
    })()
    await collectGarbage()
    expect(made.map((each) => each.deref() !== undefined)).toEqual([true, true, false])
  })

  withPlatform("is the one that the client uses", function* () {
    const prepared: Array<string> = []
    const { prepare } = Sqlite.prototype
    Sqlite.prototype.prepare = function (text) {
      prepared.push(text)
      return prepare.call(this, text)
    }
    yield* Effect.addFinalizer(() => Effect.sync(() => Object.assign(Sqlite.prototype, { prepare })))
    const file = `${yield* world.temporaryDirectory}/a.db`
    const database = yield* world.open({ file, durability: "process", migrations: [] })
    yield* database.read((sql) => sql`select 'by the client'`.values)
    expect(prepared).toContain("select 'by the client'")
  })
})
