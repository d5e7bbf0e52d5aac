import { Deferred, Effect, Fiber } from "effect"
import { describe, expect } from "vitest"
import * as Column from "../../src/storage/sqlite/Column.js"
import type * as Database from "../../src/storage/sqlite/Database.js"
import type { Sql } from "../../src/storage/sqlite/Sql.js"
import { withDatabase, withDirectory } from "./withStorage.js"
import * as world from "./world.js"

const migrations = [
  { version: 1, statements: "create table things (name text not null primary key, size integer) strict;\n" },
]

const withTable = withDatabase(migrations)

const names = (database: Database.Database) =>
  Effect.map(
    database.read((sql) => sql`select name from things order by name`.values),
    (rows) => rows.map(([name]) => name),
  )

describe("a database", () => {
  withTable("is read during a write as it was before", function* (database) {
    const isInside = yield* Deferred.make<void>()
    const mayEnd = yield* Deferred.make<void>()
    const writing = yield* Effect.fork(
      database.write((sql) =>
        sql`insert into things (name) values ('a') returning name`.values.pipe(
          Effect.zipRight(Deferred.succeed(isInside, undefined)),
          Effect.zipRight(Deferred.await(mayEnd)),
        ),
      ),
    )
    yield* Deferred.await(isInside)
    const meanwhile = yield* Effect.ensuring(names(database), Deferred.succeed(mayEnd, undefined))
    expect(meanwhile).toEqual([])
    yield* Fiber.join(writing)
    expect(yield* names(database)).toEqual(["a"])
  })

  withTable("runs writes in turn, and rolls back a failed one without affecting the others", function* (database) {
    const write = (name: string, second: string) =>
      Effect.exit(
        database.write((sql) =>
          Effect.gen(function* () {
            sql`insert into things (name) values (${name})`.run()
            yield* Effect.yieldNow()
            sql`insert into things (name) values (${second})`.run()
          }),
        ),
      )
    const exits = yield* Effect.all([write("a", "b"), write("c", "a"), write("d", "e")], { concurrency: "unbounded" })
    expect(exits.map(({ _tag }) => _tag)).toEqual(["Success", "Failure", "Success"])
    expect(yield* names(database)).toEqual(["a", "b", "d", "e"])
  })

  withTable("finishes a write that is interrupted after it has begun", function* (database) {
    const isInside = yield* Deferred.make<void>()
    const writing = yield* Effect.fork(
      database.write((sql) =>
        sql`insert into things (name) values ('a') returning name`.values.pipe(
          Effect.zipRight(Deferred.succeed(isInside, undefined)),
          Effect.zipRight(Effect.sleep("20 millis")),
          Effect.map(() => sql`insert into things (name) values ('b')`.run()),
        ),
      ),
    )
    yield* Deferred.await(isInside)
    yield* Fiber.interrupt(writing)
    expect(yield* names(database)).toEqual(["a", "b"])
  })

  withDirectory("reports a value of the wrong type as damage, not as a crash", function* (path) {
    yield* world.inDirectory(path, (storage) => storage.append([{ _tag: "Commit", batch: world.batch(1) }]))
    yield* world.sqlite(`${path}/udg.db`, "update commits set hash = x'00'")
    const refused = yield* Effect.flip(world.inDirectory(path, (storage) => storage.commits.last))
    expect(refused._tag).toBe("DatabaseDamaged")
    expect(refused.message).toContain("expected a hash")
  })

  withTable("cannot be written through its reader", function* (database) {
    const refused = yield* Effect.flip(database.read((sql) => Effect.sync(() => sql`delete from things`.run())))
    expect(refused).toMatchObject({ _tag: "DatabaseFailed", code: "SQLITE_READONLY" })
  })

  withTable(
    "has a synced write on the disk before it returns, even while a reader blocks checkpoints of the log",
    function* (database) {
      const add = (name: string) => (sql: Sql) => {
        sql`insert into things (name) values (${name})`.run()
        // 1 syncs at checkpoints only, 2 at every commit.
        return Effect.map(sql`pragma synchronous`.values, ([row = []]) => Column.integer(row, 0))
      }
      const isInside = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const reading = yield* Effect.fork(
        database.read((sql) =>
          Effect.zipRight(
            sql`select count(*) from things`.values,
            Effect.zipRight(Deferred.succeed(isInside, undefined), Deferred.await(mayEnd)),
          ),
        ),
      )
      yield* Deferred.await(isInside)
      yield* Effect.gen(function* () {
        expect(yield* database.write(add("a"))).toBe(1)
        expect(yield* database.writeSynced(add("b"))).toBe(2)
        expect(yield* database.write(add("c"))).toBe(1)
        expect(yield* Effect.exit(database.writeSynced(add("c")))).toMatchObject({ _tag: "Failure" })
        expect(yield* database.write(add("d"))).toBe(1)
      }).pipe(Effect.ensuring(Deferred.succeed(mayEnd, undefined)))
      yield* Fiber.join(reading)
      expect(yield* names(database)).toEqual(["a", "b", "c", "d"])
    },
  )
})
