/** How a gateway's reads affect each other, and how it recovers from an unavailable database. */
import { Context, Duration, Effect, Exit, Fiber, Layer, Option, Redacted } from "effect"
import * as Pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Recorded from "../../src/archive/Archive.js"
import * as Postgres from "../../src/archive/Postgres.js"
import { Archive, layer as archive } from "../../src/gateway/Archive.js"
import * as CommitEvents from "../../src/gateway/CommitEvents.js"
import * as FinalizedDag from "../../src/gateway/FinalizedDag.js"
import * as RecordCache from "../../src/gateway/RecordCache.js"
import * as TransactionList from "../../src/gateway/TransactionList.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as Server from "../archive/Server.js"
import { Chain, person } from "../ledger/builders.js"
import * as Rest from "../support/Rest.js"
import * as EmptyArchive from "./EmptyArchive.js"

const ann = person("ann")
const val = person("val")

/**
 * In a queue behind reads that time out after five seconds, nothing would be answered this soon. Even a busy machine is
 * faster.
 */
const SOON_MS = 4_500
/** More than the five seconds of one timeout on a busy machine, and less than two timeouts in sequence. */
const LATE_MS = 10_000

/** Returns how long the effect took, and whether it succeeded. */
const timed = <A>(effect: Effect.Effect<A, unknown>) =>
  Effect.map(Effect.timed(Effect.exit(effect)), ([duration, exit]) => ({
    ms: Duration.toMillis(duration),
    isAnswered: Exit.isSuccess(exit),
  }))

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  Rest.of("PostgreSQL", "the archive of a gateway"),
  () => {
    let server: Server.Server
    beforeAll(async () => {
      server = await Server.make()
    })
    afterAll(() => server.remove())

    const filled = async (name: string) => {
      const plain = await server.create(name)
      const url = Redacted.make(plain)
      const chain = new Chain({ accounts: { ann: 100 }, validators: { val: 10_000 } })
      const { genesis } = chain
      await EmptyArchive.begin(url, genesis)
      const commitAt = (given?: Natural.Timestamp) =>
        Effect.suspend(() => {
          const execution = chain.commit([{ by: val, transactions: [chain.transfer(ann, val, 1)] }])
          const { vertices } = chain.inputs.at(-1) ?? expect.fail()
          const executed = { execution: { ...execution, time: given ?? execution.time }, vertices }
          return Effect.scoped(
            Effect.flatMap(Postgres.open(url), (database) => Recorded.append(database, [executed], [])),
          )
        })
      return { plain, url, genesis, chain, commitAt, commit: commitAt() }
    }

    /** Locks the table against reads meanwhile. */
    const whileLocked = <A, E, R>(url: string, table: string, effect: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        Effect.promise(async () => {
          const client = new Pg.Client(url)
          await client.connect()
          await client.query("begin")
          await client.query(`lock table ${table} in access exclusive mode`)
          return client
        }),
        () => effect,
        (client) => Effect.promise(() => client.end()),
      )

    it("cancels each read after five seconds, however many there are, and recovers at once", async () => {
      const { plain, url, genesis } = await filled("slow")
      const program = Effect.gen(function* () {
        const { read, snapshot, isThere } = yield* Archive
        const hours = { rows: "select * from hours" }
        const all = Effect.all(
          Array.from({ length: 32 }, () => [
            timed(read(({ rows }) => rows(hours.rows))),
            timed(snapshot(({ rows }) => rows(hours.rows))),
          ]).flat(),
          { concurrency: "unbounded" },
        )
        /** Reads the archive's position, as `/health` does. */
        const looks = Effect.all(Array.from({ length: 4 }, () => Effect.delay(timed(isThere), "1 seconds")))
        /** Reads of a table that is still locked, once the cancelled reads have freed their connections. */
        const others = Effect.all(
          Array.from({ length: 8 }, () => timed(read(({ rows }) => rows("select balance from accounts")))),
        )
        const reads = Effect.all([all, others])
        const [[slow, fast], health] = yield* whileLocked(
          plain,
          "hours",
          Effect.all([reads, looks], { concurrency: 2 }),
        )
        expect(slow.filter(({ isAnswered, ms }) => isAnswered || ms > LATE_MS)).toEqual([])
        for (const soon of [fast, health])
          expect(soon.filter(({ isAnswered, ms }) => !isAnswered || ms > SOON_MS)).toEqual([])
        const after = yield* Effect.all(
          Array.from({ length: 32 }, () => timed(snapshot(({ rows }) => rows(hours.rows)))),
          { concurrency: "unbounded" },
        )
        expect(after.filter(({ isAnswered }) => !isAnswered)).toEqual([])
      })
      await Effect.runPromise(Effect.scoped(Effect.provide(program, archive(url, genesis))))
    })

    it("lets searches wait for each other, and for nothing else", async () => {
      const { plain, url, genesis } = await filled("searches")
      const program = Effect.gen(function* () {
        const { snapshot, search } = yield* Archive
        const searches = Effect.all(
          Array.from({ length: 64 }, () => timed(search(({ rows }) => rows("select words from transactions")))),
          { concurrency: "unbounded" },
        )
        const others = Effect.all(
          Array.from({ length: 8 }, () =>
            Effect.delay(timed(snapshot(({ rows }) => rows("select balance from accounts"))), "250 millis"),
          ),
        )
        const [slow, fast] = yield* whileLocked(
          plain,
          "transactions",
          Effect.all([searches, others], { concurrency: 2 }),
        )
        expect(slow.filter(({ isAnswered, ms }) => isAnswered || ms > LATE_MS)).toEqual([])
        expect(fast.filter(({ isAnswered, ms }) => !isAnswered || ms > SOON_MS)).toEqual([])
      })
      await Effect.runPromise(Effect.scoped(Effect.provide(program, archive(url, genesis))))
    })

    it("follows the archive even if that takes longer than a client waits", async () => {
      const { plain, url, genesis, commit } = await filled("behind")
      const program = Effect.gen(function* () {
        const { isThere } = yield* Archive
        const building = yield* whileLocked(
          plain,
          "records",
          Effect.gen(function* () {
            const building = yield* Effect.fork(Layer.build(RecordCache.layer(genesis)))
            yield* Effect.sleep("6 seconds")
            expect(Option.isNone(yield* Fiber.poll(building))).toBe(true)
            return building
          }),
        )
        const { view, refreshed } = Context.get(yield* Fiber.join(building), RecordCache.RecordCache)
        yield* commit
        yield* isThere
        const { isAnswered, ms } = yield* whileLocked(plain, "records", timed(refreshed))
        expect([isAnswered, ms > 4_000, ms < LATE_MS]).toEqual([false, true, true])
        // No further request is needed.
        yield* Effect.repeat(
          Effect.delay(
            Effect.sync(() => view.read.head.index),
            "50 millis",
          ),
          { until: (index) => index === 1 },
        ).pipe(Effect.timeout("2 minutes"))
        expect(yield* timed(refreshed)).toMatchObject({ isAnswered: true })
      })
      await Effect.runPromise(Effect.scoped(Effect.provide(program, archive(url, genesis))))
    })

    it("reads only the beginnings of a round's vertices and of commits", async () => {
      const { plain, url, genesis, chain, commit } = await filled("heads")
      await Effect.runPromise(commit)
      const { encoded } = Vertex.make(chain.header(val, chain.round), Vertex.emptyBody)
      await Server.query(plain, "update vertices set bytes = $1::bytea || decode(repeat('ab', 1000000), 'hex')", [
        encoded,
      ])
      const program = Effect.gen(function* () {
        const own = yield* Archive
        const lengths: Array<number> = []
        const noted =
          <A>(reads: (sql: Postgres.Statements) => A) =>
          ({ rows }: Postgres.Statements) =>
            reads({
              rows: (text, values) =>
                Effect.tap(rows(text, values), (found) => {
                  for (const cell of found.flat()) if (cell instanceof Uint8Array) lengths.push(cell.length)
                }),
            })
        const archive = Archive.of({
          ...own,
          read: (reads) => own.read(noted(reads)),
          snapshot: (reads) => own.snapshot(noted(reads)),
        })
        const dag = yield* Effect.provideService(FinalizedDag.dag(genesis.networkId), Archive, archive)
        expect((yield* dag.round(Natural.round(chain.round))).vertices).toHaveLength(1)
        const [commit] = yield* archive.snapshot((sql) => CommitEvents.read(sql, 1, 1, (key) => key))
        expect(commit?.events.map(({ type }) => type)).toEqual(["vertex", "transaction"])
        expect(lengths.filter((length) => length === Vertex.HEAD_BYTES)).toHaveLength(2)
        expect(Math.max(...lengths)).toBe(Vertex.HEAD_BYTES)
      })
      await Effect.runPromise(Effect.provide(program, archive(url, genesis)))
    })

    it("finds the transactions of each commit of a moment, also after wall clocks were set back", async () => {
      const { url, genesis, commitAt } = await filled("moments")
      const [first, same, last] = [500, 1_000, 1_500].map((after) => Natural.timestamp(genesis.time + after))
      if (first === undefined || same === undefined || last === undefined) return expect.fail()
      for (const time of [first, same, same, same, last]) await Effect.runPromise(commitAt(time))
      const next = Natural.timestamp(same + 1)
      const program = Effect.gen(function* () {
        const { read } = yield* Archive
        const found = (filter: { readonly from?: Natural.Timestamp; readonly until?: Natural.Timestamp }, most = 9) =>
          Effect.gen(function* () {
            const all: Array<number> = []
            for (;;) {
              const before = all.at(-1) ?? null
              const page = yield* read((sql) => TransactionList.latest(sql, (found) => found, filter, before, most))
              if (page.length === 0) return all
              all.push(...page.map(([, sequence]) => Number(sequence)))
            }
          })
        for (const most of [1, 2, 9]) {
          expect(yield* found({ from: same }, most)).toEqual([5, 4, 3, 2])
          expect(yield* found({ until: same }, most)).toEqual([1])
          expect(yield* found({ from: same, until: next }, most)).toEqual([4, 3, 2])
          expect(yield* found({ from: next }, most)).toEqual([5])
        }
      })
      await Effect.runPromise(Effect.provide(program, archive(url, genesis)))
    })

    it("listens again after a lost connection, and learns of a commit immediately", async () => {
      const { plain, url, genesis, commit } = await filled("listening")
      const listeners = "from pg_stat_activity where query ilike 'listen %' and datname = current_database()"
      const program = Effect.gen(function* () {
        const listening = Effect.promise(() => Server.query(plain, `select pid ${listeners}`))
        const [first] = yield* Effect.repeat(listening, { until: (rows) => rows.length > 0 })
        yield* Effect.promise(() => Server.query(plain, `select pg_terminate_backend(pid) ${listeners}`))
        const again = yield* Effect.repeat(Effect.delay(listening, "100 millis"), {
          until: (rows) => rows.length > 0 && rows[0]?.[0] !== first?.[0],
        }).pipe(Effect.timeoutTo({ duration: "60 seconds", onTimeout: () => [], onSuccess: (rows) => rows }))
        expect(again).toHaveLength(1)
        const { asOf, reached } = yield* Archive
        yield* commit
        yield* reached(1)
        expect(asOf()).toBe(1)
      })
      await Effect.runPromise(Effect.scoped(Effect.provide(program, archive(url, genesis))))
    })
  },
)
