// How fast the node's files take and give: commits of transfers, the synced write of an own vertex, loading accounts.

import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Layer } from "effect"
import { fromHex } from "#crypto"
import * as AccountRecord from "../src/protocol/AccountRecord.js"
import * as Sats from "../src/protocol/Sats.js"
import type { CommitBatch, RecordChange } from "../src/storage/CommitBatch.js"
import { DataDirectory } from "../src/storage/DataDirectory.js"
import * as Storage from "../src/storage/Storage.js"
import * as world from "../test/storage/world.js"

const LOADED_ACCOUNTS = 1_000_000
const TRANSFERS = 1_000
const COMMITS = 30
const OWN_VERTICES = 200

const value = AccountRecord.encode({ ...AccountRecord.empty, balance: Sats.make(12_345_678_901) })

const accountOf = (n: number): RecordChange => ({ kind: "Account", key: fromHex(world.address(n)), value })

function* accounts(from: number, count: number): Generator<RecordChange> {
  for (let n = from; n < from + count; n++) yield accountOf(n)
}

/** Made before the clock runs: what is measured is the storing. */
const commitOf = (index: number) => {
  const random = (n: number): number => Math.imul(index * TRANSFERS + n, 0x9e3779b1) >>> 0
  const pairs = Array.from({ length: TRANSFERS }, (_, n) => [
    random(n) % LOADED_ACCOUNTS,
    random(n + 7) % LOADED_ACCOUNTS,
  ])
  const vertex = world.vertex({
    round: index,
    transactions: pairs.map(([from = 0, to = 0], n) => world.transfer(from, to, index * TRANSFERS + n)),
  })
  const changes = [...new Set(pairs.flat())].map(accountOf)
  const batch: CommitBatch = world.batch(index, {
    changes,
    vertices: [world.ordered(vertex)],
    settled: vertex.body.transactions.map(({ id }) => id),
  })
  const history = batch.vertices.flatMap(({ executed }) => executed).flatMap(({ participants }) => participants).length
  return { vertex, batch, rows: changes.length + TRANSFERS + history + 3 }
}

const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
const highest = (values: ReadonlyArray<number>): number => values.reduce((a, b) => Math.max(a, b), 0)

const milliseconds = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const started = performance.now()
    return Effect.map(effect, () => performance.now() - started)
  })

const table: Array<{ readonly what: string; readonly measured: string }> = []
const note = (what: string, measured: string): void => {
  table.push({ what, measured })
}

const inStorage = <A, E, R>(path: string, use: (storage: Storage.Storage["Type"]) => Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const directory = yield* DataDirectory.open(path)
      const layer = Storage.layer({ location: { _tag: "Directory", directory }, genesis: world.genesis() })
      const opened = yield* Effect.timed(Layer.build(layer))
      const [duration, context] = opened
      note(
        "open and check",
        `${(Number(duration.value._tag === "Nanos" ? duration.value.nanos : 0n) / 1e6).toFixed(0)} ms`,
      )
      return yield* Effect.flatMap(Storage.Storage, use).pipe(Effect.provide(context))
    }),
  )

const fill = (storage: Storage.Storage["Type"]) =>
  milliseconds(storage.appendCommit(world.batch(0, { changes: accounts(0, LOADED_ACCOUNTS) })))

const commits = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    let rows = 0
    for (let index = 1; index <= COMMITS; index++) {
      const made = commitOf(index)
      yield* storage.vertices.insert([made.vertex])
      times.push(yield* milliseconds(storage.appendCommit(made.batch)))
      rows += made.rows
    }
    const total = times.reduce((a, b) => a + b, 0)
    note(
      `commit of ${TRANSFERS} transfers among ${LOADED_ACCOUNTS} accounts`,
      `${Math.round((rows / total) * 1_000)} rows/s; ${median(times).toFixed(0)} ms median, ${highest(times).toFixed(0)} ms highest`,
    )
  })

const ownVertices = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    for (let round = 1; round <= OWN_VERTICES; round++) {
      const transactions = Array.from({ length: 10 }, (_, n) => world.transfer(n, n + 1, round))
      const vertex = world.vertex({ epoch: 2, round, transactions })
      times.push(yield* milliseconds(storage.signed.keep(vertex)))
    }
    note("own vertex on the disk", `${median(times).toFixed(2)} ms median, ${highest(times).toFixed(2)} ms highest`)
  })

const load = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    let count = 0

    const time = yield* milliseconds(
      storage.accounts.load((page) => {
        count += page.length
      }),
    )
    note(`load ${count} accounts`, `${time.toFixed(0)} ms`)
  })

const program = Effect.scoped(
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* fileSystem.makeTempDirectoryScoped({ prefix: "udg-bench-" })
    yield* inStorage(path, (storage) =>
      Effect.gen(function* () {
        const time = yield* fill(storage)
        note(`first commit of ${LOADED_ACCOUNTS} accounts`, `${Math.round(LOADED_ACCOUNTS / time) * 1_000} rows/s`)
        yield* commits(storage)
        yield* ownVertices(storage)
      }),
    )
    yield* inStorage(path, load)
    console.table(table)
  }),
)

await Effect.runPromise(program.pipe(Effect.provide(NodeContext.layer)))
