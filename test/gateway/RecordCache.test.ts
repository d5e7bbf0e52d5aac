/** A gateway's in-memory copy of small records: it follows the archive at a cost proportional to the changes. */
import { Context, Effect, Layer, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Recorded from "../../src/archive/Archive.js"
import * as Postgres from "../../src/archive/Postgres.js"
import { Archive, layer as archive } from "../../src/gateway/Archive.js"
import * as RecordCache from "../../src/gateway/RecordCache.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Server from "../archive/Server.js"
import { Chain, coins, person } from "../ledger/builders.js"
import * as Rest from "../support/Rest.js"
import * as EmptyArchive from "./EmptyArchive.js"

/** With UDG_ARCHIVE_DELEGATORS=10000 the test prints the cost of a commit. */
const DELEGATORS = Number(process.env["UDG_ARCHIVE_DELEGATORS"] ?? 300)
const IS_MEASURED = process.env["UDG_ARCHIVE_DELEGATORS"] !== undefined
const IN_A_COMMIT = 500

const delegators = Array.from({ length: DELEGATORS }, (_, n) => person(`delegator ${n}`))
const [val, ann, bob] = ["val", "ann", "bob"].map(person)

const medianOf = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

describe.skipIf(!Server.isThere && process.env["CI"] === undefined)(
  Rest.of("PostgreSQL", "the records of a gateway"),
  { timeout: 300_000 },
  () => {
    let server: Server.Server
    beforeAll(async () => {
      server = await Server.make()
    })
    afterAll(() => server.remove())

    it("equal the ledger's after every commit, and only changed ones are read", async () => {
      if (val === undefined || ann === undefined || bob === undefined) return expect.fail()
      const url = Redacted.make(await server.create("records"))
      const rich = Object.fromEntries([...delegators, ann, bob, val].map(({ name }) => [name, 100]))
      const chain = new Chain({
        accounts: rich,
        validators: { val: 10_000 },
        council: ["bob"],
        parameters: { minDelegation: 1, executionDelayRounds: 5, cooldownRounds: 105 },
      })
      const { genesis, ledger } = chain
      /** Rows read from the archive, and the statements. */
      let rows = 0
      const asked = new Set<string>()
      const counted = Layer.map(archive(url, genesis), (context) => {
        const own = Context.get(context, Archive)
        const thorough: (typeof Archive.Service)["thorough"] = (reads) =>
          own.thorough((sql) =>
            reads({
              rows: (text, values) =>
                Effect.tap(sql.rows(text, values), (found) => {
                  rows += found.length
                  asked.add(text)
                }),
            }),
          )
        return Context.make(Archive, { ...own, thorough })
      })
      const program = Effect.gen(function* () {
        const database = yield* Postgres.open(url)
        const { isThere } = yield* Archive
        const { refreshed, view } = yield* RecordCache.RecordCache
        /** Applies transactions to the ledger, the archive and the gateway. Returns the time and the rows read. */
        const commit = (act: () => ReturnType<Chain["commit"]>) =>
          Effect.gen(function* () {
            const execution = act()
            const { vertices } = chain.inputs.at(-1) ?? expect.fail()
            yield* Recorded.append(database, [{ execution, vertices }], [])
            yield* isThere
            const [began, before] = [performance.now(), rows]
            yield* refreshed
            const took = { ms: performance.now() - began, rows: rows - before }
            const { read } = ledger
            expect(view.read.head).toEqual(read.head)
            expect(view.read.totals).toEqual(read.totals)
            expect(view.read.validators(100)).toEqual(read.validators(100))
            expect(view.read.council()).toEqual(read.council())
            for (const { address } of [ann, bob, ...delegators.slice(0, 20)])
              expect([view.read.delegation(address), view.read.stake(address)]).toEqual([
                read.delegation(address),
                read.stake(address),
              ])
            return took
          })
        for (let n = 0; n < DELEGATORS; n += IN_A_COMMIT)
          yield* commit(() =>
            chain.commit([
              {
                by: val,
                transactions: delegators.slice(n, n + IN_A_COMMIT).map((one) => chain.delegate(one, val, coins(1))),
              },
            ]),
          )
        expect(ledger.read.delegators(val.address, 1).count).toBe(DELEGATORS)
        const took: Array<{ readonly ms: number; readonly rows: number }> = []
        for (let n = 0; n < 10; n++)
          took.push(yield* commit(() => chain.commit([{ by: val, transactions: [chain.transfer(ann, bob, 1)] }])))
        // One account starts to delegate, another stops.
        took.push(yield* commit(() => chain.commit([{ by: val, transactions: [chain.delegate(ann, val, coins(2))] }])))
        const [one = expect.fail(), two = expect.fail()] = delegators
        took.push(yield* commit(() => chain.commit([{ by: val, transactions: [chain.undelegate(one)] }])))
        expect(Math.max(...took.map(({ rows }) => rows))).toBeLessThan(12)
        // A council member without any other record loses its seat.
        const payload = { _tag: "CouncilMembership", action: "remove", address: bob.address } as const
        const proposal = { _tag: "CreateProposalTx", title: "A title", description: "", payload } as const
        const vote = { _tag: "VoteTx", proposalId: Natural.proposalId(1), vote: true } as const
        yield* commit(() => chain.commit([{ by: val, transactions: [chain.tx(val, proposal, { fee: 1_000 })] }]))
        yield* commit(() => chain.commit([{ by: val, transactions: [chain.tx(val, vote, { fee: 1_000 })] }]))
        for (let n = 0; n < 18; n++) yield* commit(() => chain.advanceTo(chain.round + 1, [val], [val]))
        expect(ledger.read.council()).toEqual([])
        // The first account to leave is paid out, while the second still has coins in the same pool.
        for (let n = 0; n < 2; n++) yield* commit(() => chain.advanceTo(chain.round + 7, [val], [val]))
        yield* commit(() => chain.commit([{ by: val, transactions: [chain.undelegate(two)] }]))
        // Six accounts leave one after the other. Everything is reloaded at the end and the beginning of an epoch.
        // Payouts happen in commits between, at a cost proportional to the changes.
        const leaving = delegators.slice(2, 8)
        for (const person of leaving)
          yield* commit(() => chain.commit([{ by: val, transactions: [chain.undelegate(person)] }]))
        const waiting = () => leaving.filter(({ address }) => ledger.read.delegation(address) !== undefined).length
        const paying: Array<number> = []
        const end = ledger.read.epoch.epoch + 5
        let isFirst = true
        while (ledger.read.epoch.epoch < end) {
          const [{ epoch }, count] = [ledger.read.epoch, waiting()]
          const { rows } = yield* commit(() => chain.advanceTo(chain.round + 2, [val], [val]))
          const isLast = ledger.read.epoch.epoch > epoch
          if (!isFirst && !isLast && waiting() < count) paying.push(rows)
          isFirst = isLast
        }
        expect(paying.length).toBeGreaterThan(0)
        expect(Math.max(...paying)).toBeLessThan(30)
        expect(ledger.read.delegation(one.address)).toBeUndefined()
        // After many commits without a request, everything is reloaded.
        const silent = Array.from({ length: 1_000 }, () => ({
          execution: chain.commit([{ by: val, transactions: [] }]),
          vertices: chain.inputs.at(-1)?.vertices ?? expect.fail(),
        }))
        yield* Recorded.append(database, silent, [])
        asked.clear()
        yield* commit(() => chain.commit([{ by: val, transactions: [chain.transfer(ann, bob, 1)] }]))
        expect(asked.size).toBeGreaterThan(0)
        expect([...asked].filter((statement) => statement === RecordCache.GONE)).toEqual([])
        const began = performance.now()
        yield* Effect.scoped(Layer.build(Layer.fresh(RecordCache.layer(genesis))))
        const anewMs = performance.now() - began
        if (IS_MEASURED)
          process.stdout.write(
            `${DELEGATORS} delegators: ${medianOf(took.map(({ ms }) => ms)).toFixed(1)} ms a commit, all anew ${anewMs.toFixed(1)} ms\n`,
          )
      })
      const layers = Layer.provideMerge(RecordCache.layer(genesis), counted)
      await EmptyArchive.begin(url, genesis)
      await Effect.runPromise(Effect.scoped(Effect.provide(program, layers)))
    })
  },
)
