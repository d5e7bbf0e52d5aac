import { Worker } from "node:worker_threads"
import { Deferred, Effect, Exit, FastCheck, Scope } from "effect"
import { describe, expect, vi } from "vitest"
import type { Value } from "../../src/storage/sqlite/Connection.js"
import * as Database from "../../src/storage/sqlite/Database.js"
import type { Sql } from "../../src/storage/sqlite/Sql.js"
import { WriterThread } from "../../src/storage/sqlite/WriterThread.js"
import { withDatabase, withDirectory, withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const migrations = [{ version: 1, statements: "create table things (value any unique) strict;\n" }]

const withTable = withDatabase(migrations)

const values = (database: Database.Database) =>
  Effect.map(
    database.read((sql) => sql`select value from things order by rowid`.values),
    (rows) => rows.map(([value]) => value),
  )

const plain = (value: unknown): unknown => (value instanceof Uint8Array ? [...value] : value)

const anyValue: FastCheck.Arbitrary<Value> = FastCheck.oneof(
  FastCheck.constant(null),
  FastCheck.maxSafeInteger(),
  FastCheck.double({ noNaN: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
  // SQLite ends a text at its first zero, and has no lone surrogates.
  FastCheck.string({ unit: "grapheme", maxLength: 5_000 }).filter((text) => !text.includes("\0")),
  FastCheck.uint8Array({ maxLength: 20_000 }),
)

describe("the writer thread", () => {
  withTable("receives every value unchanged", function* (database) {
    yield* Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(FastCheck.array(anyValue, { minLength: 1, maxLength: 12 }), async (given) => {
          const back = await Effect.runPromise(
            database.write((sql) => sql.text(`select ${given.map(() => "?").join(", ")}`, given).values),
          )
          expect(back[0]?.map(plain)).toEqual(given.map(plain))
        }),
        { numRuns: 200 },
      ),
    )
  })

  withTable("reports an earlier error at the commit, and keeps nothing of that transaction", function* (database) {
    const refused = yield* Effect.flip(
      database.write((sql) =>
        Effect.sync(() => {
          sql`insert into things values (1)`.run()
          sql`insert into things values (1)`.run()
          sql`insert into things values (2)`.run()
        }),
      ),
    )
    expect(refused).toMatchObject({ _tag: "DatabaseFailed", code: "SQLITE_CONSTRAINT_UNIQUE" })
    expect(yield* values(database)).toEqual([])
    yield* database.write((sql) => Effect.sync(() => sql`insert into things values (3)`.run()))
    expect(yield* values(database)).toEqual([3])
  })

  withTable("keeps nothing of a cancelled write, whether or not its statements had arrived", function* (database) {
    const given = [
      database.write((sql) =>
        Effect.zipRight(
          Effect.sync(() => sql`insert into things values (1)`.run()),
          Effect.dieMessage("given up"),
        ),
      ),
      database.write((sql) =>
        Effect.zipRight(sql`insert into things values (2) returning value`.values, Effect.dieMessage("given up")),
      ),
    ]
    for (const write of given) expect(Exit.isFailure(yield* Effect.exit(write))).toBe(true)
    yield* database.write((sql) => Effect.sync(() => sql`insert into things values (3)`.run()))
    expect(yield* values(database)).toEqual([3])
  })

  withDirectory("writes to two files at a time, whichever statement it sees first", function* (path) {
    const thread = yield* WriterThread.make
    const open = (name: string) =>
      Database.open({ file: `${path}/${name}.db`, durability: "process", migrations }, thread)
    const [slow, quick] = [yield* open("slow"), yield* open("quick")]
    const isInside = yield* Deferred.make<void>()
    const mayEnd = yield* Deferred.make<void>()
    const writing = yield* Effect.fork(
      slow.write((sql) =>
        Effect.gen(function* () {
          sql`insert into things values (1)`.run()
          yield* Deferred.succeed(isInside, undefined)
          yield* Deferred.await(mayEnd)
          sql`insert into things (value) values (${2})`.run()
        }),
      ),
    )
    yield* Deferred.await(isInside)
    yield* quick
      .write((sql) => Effect.sync(() => sql`insert into things (value) select ${3}`.run()))
      .pipe(Effect.ensuring(Deferred.succeed(mayEnd, undefined)))
    yield* writing
    yield* quick.write((sql) => Effect.sync(() => sql`insert into things values (4)`.run()))
    expect(yield* values(slow)).toEqual([1, 2])
    expect(yield* values(quick)).toEqual([3, 4])
  })

  withTable("wakes once for a write without rows, synced or not", function* (database) {
    yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
    const sent = vi.spyOn(Worker.prototype, "postMessage")
    const add = (value: number) => (sql: Sql) => Effect.sync(() => sql`insert into things values (${value})`.run())
    yield* database.write(add(1))
    expect(sent).toHaveBeenCalledTimes(1)
    yield* database.writeSynced(add(2))
    expect(sent).toHaveBeenCalledTimes(2)
    yield* database.writeSynced(() => Effect.void)
    expect(sent).toHaveBeenCalledTimes(3)
    yield* database.write(add(3))
    expect(sent).toHaveBeenCalledTimes(4)
    expect(yield* values(database)).toEqual([1, 2, 3])
  })

  withTable("leaves the main thread free while it writes", function* (database) {
    let turns = 0
    const counting = setInterval(() => turns++, 1)
    yield* database.write((sql) =>
      Effect.sync(() =>
        sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000)
          insert into things select i from n`.run(),
      ),
    )
    clearInterval(counting)
    expect(turns).toBeGreaterThan(10)
  })

  withPlatform("makes writes fail when it is gone", function* () {
    const file = `${yield* world.temporaryDirectory}/a.db`
    const scope = yield* Scope.make()
    const thread = yield* Scope.extend(WriterThread.make, scope)
    const database = yield* Database.open({ file, durability: "process", migrations }, thread)
    const writing = yield* Effect.fork(
      Effect.flip(
        database.write(
          (sql) =>
            sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000000)
              select count(*) from n`.values,
        ),
      ),
    )
    yield* Effect.sleep("50 millis")
    yield* Scope.close(scope, Exit.void)
    const expected = { _tag: "DatabaseFailed", code: "THREAD_GONE" }
    expect(yield* writing).toMatchObject(expected)
    expect(
      yield* Effect.flip(database.write((sql) => Effect.sync(() => sql`insert into things values (1)`.run()))),
    ).toMatchObject(expected)
  })
})
