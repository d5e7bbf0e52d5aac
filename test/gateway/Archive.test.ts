/** What a gateway's reads can do to each other, and what it makes of a database that was away. */
import { Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import * as Pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { fromHex } from "#crypto"
import * as Recorded from "../../src/archive/Archive.js"
import * as Migration from "../../src/archive/Migration.js"
import * as Postgres from "../../src/archive/Postgres.js"
import { Archive, layer as archive } from "../../src/gateway/Archive.js"
import * as Reads from "../../src/gateway/Reads.js"
import * as Records from "../../src/gateway/Records.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as Server from "../archive/Server.js"
import { Chain, person } from "../ledger/builders.js"
import * as Rest from "../support/Rest.js"

const ann = person("ann")
const val = person("val")

/** How long it took, and how it ended. */
const timed = <A>(effect: Effect.Effect<A>) =>
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
      const prepare = Effect.gen(function* () {
        const database = yield* Postgres.open(url)
        yield* Migration.run(database)
        yield* database.rows("insert into network (genesis_hash, network_id) values ($1, $2)", [
          fromHex(Genesis.hash(genesis)),
          genesis.networkId,
        ])
        yield* Recorded.append(database, [Recorded.genesisOf(genesis)], [])
      })
      await Effect.runPromise(Effect.scoped(prepare))
      const commit = Effect.suspend(() => {
        const execution = chain.commit([{ by: val, transactions: [chain.transfer(ann, val, 1)] }])
        const { vertices } = chain.inputs.at(-1) ?? expect.fail()
        return Effect.scoped(
          Effect.flatMap(Postgres.open(url), (database) => Recorded.append(database, [{ execution, vertices }], [])),
        )
      })
      return { plain, url, genesis, commit }
    }

    /** Nobody can read the table until then. */
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

    it("gives up each read after five seconds, however many there are, and is whole again at once", async () => {
      const { plain, url, genesis } = await filled("slow")
      const program = Effect.gen(function* () {
        const { read, snapshot, look } = yield* Archive
        const hours = { rows: "select * from hours" }
        const all = Effect.all(
          Array.from({ length: 32 }, () => [
            timed(read(({ rows }) => rows(hours.rows))),
            timed(snapshot(({ rows }) => rows(hours.rows))),
          ]).flat(),
          { concurrency: "unbounded" },
        )
        /** How far the archive is, which `/health` asks. */
        const looks = Effect.all(Array.from({ length: 4 }, () => Effect.delay(timed(Effect.orDie(look)), "1 seconds")))
        const [slow, health] = yield* whileLocked(plain, "hours", Effect.all([all, looks], { concurrency: 2 }))
        expect(slow.filter(({ isAnswered }) => isAnswered)).toEqual([])
        // If they waited for each other, the second ones would give up after five seconds more.
        expect(Math.max(...slow.map(({ ms }) => ms))).toBeLessThan(10_000)
        // If it waited for them, the first look would take four seconds.
        expect(health.filter(({ isAnswered, ms }) => !isAnswered || ms > 3_000)).toEqual([])
        const after = yield* Effect.all(
          Array.from({ length: 32 }, () => timed(snapshot(({ rows }) => rows(hours.rows)))),
          { concurrency: "unbounded" },
        )
        expect(after.filter(({ isAnswered }) => !isAnswered)).toEqual([])
      })
      await Effect.runPromise(Effect.scoped(Effect.provide(program, archive(url, genesis))))
    })

    it("lets searches wait for each other, and for nobody else", async () => {
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
        expect(slow.filter(({ isAnswered, ms }) => isAnswered || ms > 10_000)).toEqual([])
        // If they waited for the searches, the first would take almost five seconds.
        expect(fast.filter(({ isAnswered, ms }) => !isAnswered || ms > 3_000)).toEqual([])
      })
      await Effect.runPromise(Effect.scoped(Effect.provide(program, archive(url, genesis))))
    })

    it("follows the archive even if that takes longer than anybody waits", async () => {
      const { plain, url, genesis, commit } = await filled("behind")
      const program = Effect.gen(function* () {
        const { look } = yield* Archive
        /** Begins once the table is locked, and goes on while it is. */
        const lockedFor = (duration: Duration.DurationInput) =>
          Effect.gen(function* () {
            const isLocked = yield* Deferred.make<void>()
            const effect = Effect.zipRight(Deferred.succeed(isLocked, undefined), Effect.sleep(duration))
            const fiber = yield* Effect.fork(whileLocked(plain, "records", effect))
            yield* Deferred.await(isLocked)
            return fiber
          })
        const first = yield* lockedFor("7 seconds")
        const began = performance.now()
        const { view, refreshed } = yield* Effect.map(Layer.build(Records.layer(genesis)), (context) =>
          Context.get(context, Records.Records),
        )
        expect(performance.now() - began).toBeGreaterThan(6_000)
        yield* Fiber.join(first)
        yield* commit
        yield* look
        yield* lockedFor("10 seconds")
        const { isAnswered, ms } = yield* timed(refreshed)
        expect([isAnswered, ms > 4_000]).toEqual([false, true])
        expect(view.read.head.index).toBe(0)
        // Nobody asks again.
        while (view.read.head.index < 1) yield* Effect.sleep("50 millis")
        expect(yield* timed(refreshed)).toMatchObject({ isAnswered: true })
      })
      await Effect.runPromise(Effect.scoped(Effect.provide(program, archive(url, genesis))))
    })

    it("reads of a round only the beginnings of its vertices", async () => {
      const { plain, url, genesis, commit } = await filled("round")
      await Effect.runPromise(commit)
      await Server.query(plain, "update vertices set bytes = decode(repeat('ab', 1000000), 'hex')")
      const program = Effect.flatMap(Archive, ({ read }) =>
        Effect.gen(function* () {
          const [[round] = []] = yield* read(({ rows }) => rows("select max(round) from vertices"))
          const [[head] = []] = yield* read(({ rows }) => rows(Reads.ROUND, [Number(round)]))
          expect(head).toHaveLength(Vertex.HEAD_BYTES)
        }),
      )
      await Effect.runPromise(Effect.provide(program, archive(url, genesis)))
    })

    it("listens again when its connection is lost, and hears of a commit at once", async () => {
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
