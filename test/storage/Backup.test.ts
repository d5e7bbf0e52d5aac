/** A migration leaves a copy of the old database, and survives an interruption at any point. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import * as NodeSchema from "../../src/storage/schema/Node.js"
import { Sqlite } from "../../src/storage/sqlite/Driver.js"
import * as Meta from "../../src/storage/tables/Meta.js"
import { withDirectory, withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const NEWEST = NodeSchema.migrations.length

/** A directory left by a program that knew only these migrations. */
const oldDirectory = (known: number) =>
  Effect.gen(function* () {
    const path = yield* world.temporaryDirectory
    const file = `${path}/udg.db`
    const migrations = NodeSchema.migrations.slice(0, known)
    yield* Effect.scoped(
      Effect.flatMap(world.open({ file, durability: "process", migrations }), (database) =>
        Meta.keepGenesis(database, world.genesis()),
      ),
    )
    return { path, file }
  })

const versionOf = (file: string): unknown => {
  const database = new Sqlite(file, { readonly: true })
  try {
    return database.prepare("pragma user_version").raw().all()[0]?.[0]
  } finally {
    database.close()
  }
}

const start = (path: string) => world.inDirectory(path, () => Effect.void)

describe("a migration", () => {
  withPlatform("leaves a copy of the database as it was, readable by its owner alone", function* () {
    const { path, file } = yield* oldDirectory(NEWEST - 1)
    yield* start(path)
    const copy = `${file}.schema-${NEWEST - 1}`
    expect([versionOf(file), versionOf(copy)]).toEqual([NEWEST, NEWEST - 1])
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(existsSync(`${copy}.new`)).toBe(false)
  })

  withDirectory("copies no new database, none at its newest version, and not signed.db", function* (path) {
    yield* start(path)
    yield* start(path)
    for (const file of ["udg.db", "signed.db"])
      for (let version = 0; version <= NEWEST; version++)
        expect(existsSync(`${path}/${file}.schema-${version}`)).toBe(false)
  })

  withPlatform(
    "continues where a kill interrupted it: in the copy, after it, and between two migrations",
    function* () {
      const { path, file } = yield* oldDirectory(NEWEST - 2)
      writeFileSync(`${file}.schema-${NEWEST - 2}.new`, "half a cop")
      yield* start(path)
      expect([versionOf(file), versionOf(`${file}.schema-${NEWEST - 2}`)]).toEqual([NEWEST, NEWEST - 2])

      const second = yield* oldDirectory(NEWEST - 1)
      writeFileSync(`${second.file}.schema-${NEWEST - 1}`, "the copy of the first attempt")
      yield* start(second.path)
      expect(versionOf(second.file)).toBe(NEWEST)
      expect(readFileSync(`${second.file}.schema-${NEWEST - 1}`, "utf8")).toBe("the copy of the first attempt")
    },
  )
})
