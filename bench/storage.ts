// Speed of the node's files: commits of transfers, the synced write of an own vertex, and loading accounts. On a busy
// machine, processor time tells the cost better than elapsed time.

import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Layer } from "effect"
import { fromHex } from "#crypto"
import type { Change } from "../src/ledger/tables/Effects.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../src/protocol/state/AccountRecord.js"
import { DataDirectory } from "../src/storage/files/DataDirectory.js"
import * as Storage from "../src/storage/Storage.js"
import type { CommitBatch } from "../src/storage/tables/CommitBatch.js"
import * as world from "../test/storage/world.js"
import { type Figure, median, type Suite } from "./Harness.js"

const LOADED_ACCOUNTS = 1_000_000
const TRANSFERS = 1_000
const COMMITS = 30
const OWN_VERTICES = 200

const value = AccountRecord.encode({ ...AccountRecord.empty, balance: Sats.make(12_345_678_901) })

const accountOf = (n: number): Change => ({ kind: "Account", key: fromHex(world.address(n)), value })

function* accounts(from: number, count: number): Generator<Change> {
  for (let n = from; n < from + count; n++) yield accountOf(n)
}

/** Made in advance, because only storing is measured. */
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

const highest = (values: ReadonlyArray<number>): number => values.reduce((a, b) => Math.max(a, b), 0)

interface Cost {
  readonly clockMs: number
  readonly processorMs: number
}

const costOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<readonly [A, Cost], E, R> =>
  Effect.suspend(() => {
    const started = performance.now()
    const before = process.cpuUsage()
    return Effect.map(effect, (result) => {
      const { user, system } = process.cpuUsage(before)
      return [result, { clockMs: performance.now() - started, processorMs: (user + system) / 1_000 }] as const
    })
  })

const ms = (name: string, value: number): Figure => ({ name, value, unit: "ms" })

const rowsPerSecond = (name: string, rows: number, { clockMs, processorMs }: Cost): ReadonlyArray<Figure> => [
  { name, value: (rows / clockMs) * 1_000, unit: "rows/s" },
  { name: "… by processor time", value: (rows / processorMs) * 1_000, unit: "rows/s" },
]

const inStorage = <A, E, R>(path: string, use: (storage: Storage.Storage["Type"]) => Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const directory = yield* DataDirectory.open(path)
      const layer = Storage.layer({ location: { _tag: "Directory", directory }, genesis: world.genesis() })
      const [context, cost] = yield* costOf(Layer.build(layer))
      const result = yield* Effect.flatMap(Storage.Storage, use).pipe(Effect.provide(context))
      return [result, cost] as const
    }),
  )

const fill = (storage: Storage.Storage["Type"]) =>
  Effect.map(
    costOf(storage.append([{ _tag: "Commit", batch: world.batch(0, { changes: accounts(0, LOADED_ACCOUNTS) }) }])),
    ([, cost]) => rowsPerSecond(`first commit, of ${LOADED_ACCOUNTS} accounts`, LOADED_ACCOUNTS, cost),
  )

const commits = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    let rows = 0
    const total = { clockMs: 0, processorMs: 0 }
    for (let index = 1; index <= COMMITS; index++) {
      const made = commitOf(index)
      yield* storage.append(world.inserted([made.vertex]))
      const [, cost] = yield* costOf(storage.append([{ _tag: "Commit", batch: made.batch }]))
      times.push(cost.clockMs)
      total.clockMs += cost.clockMs
      total.processorMs += cost.processorMs
      rows += made.rows
    }
    return [
      ...rowsPerSecond(`commits of ${TRANSFERS} transfers`, rows, total),
      ms("… a commit, median", median(times)),
      ms("… a commit, longest", highest(times)),
    ]
  })

/** With the vertices of three others that it references, which are synced with it. */
const ownVertices = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    for (let round = 1; round <= OWN_VERTICES; round++) {
      const transactions = Array.from({ length: 10 }, (_, n) => world.transfer(n, n + 1, round))
      const made = (n: number) => world.vertex({ epoch: 2, round, transactions, author: world.key(n).publicKey })
      const [, cost] = yield* costOf(storage.keepOwn(made(0), null, world.inserted([1, 2, 3].map(made))))
      times.push(cost.clockMs)
    }
    return [ms("own vertex on the disk, median", median(times)), ms("… longest", highest(times))]
  })

const load = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    let count = 0
    const [, cost] = yield* costOf(
      storage.accounts.load((page) => {
        count += page.length
      }),
    )
    return [ms(`load ${count} accounts`, cost.clockMs), ms("… by processor time", cost.processorMs)]
  })

const program = Effect.scoped(
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* fileSystem.makeTempDirectoryScoped({ prefix: "udg-bench-" })
    const [written] = yield* inStorage(path, (storage) =>
      Effect.all([fill(storage), commits(storage), ownVertices(storage)]),
    )
    const [read, opening] = yield* inStorage(path, load)
    return [...written.flat(), ms("open and check all of it", opening.clockMs), ...read]
  }),
)

export const suite: Suite = {
  about: "the databases: writing commits, the synced write of the node's own vertex, opening and loading",
  figures: () => Effect.runPromise(program.pipe(Effect.provide(NodeContext.layer))),
}
