import { it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Scope, TestClock } from "effect"
import type { YieldWrap } from "effect/Utils"
import { describe, expect, vi } from "vitest"
import * as Writer from "../../src/node/engine/Writer.js"
import * as Supervisor from "../../src/node/lifecycle/Supervisor.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Write } from "../../src/replica/output/Write.js"
import * as Storage from "../../src/storage/Storage.js"
import { Sqlite } from "../../src/storage/sqlite/Driver.js"
import * as EventLoop from "../../src/turns/EventLoop.js"
import {
  checkpoint,
  execution,
  genesis,
  inDirectory,
  key,
  opening,
  transfer,
  vertex,
  within,
} from "../storage/world.js"
import { withDirectory } from "./withDirectory.js"
import * as world from "./world.js"

const inMemory = Storage.layer({ location: { _tag: "Ephemeral" }, genesis: genesis() })

/** Which of these vertices the files hold, read over a separate connection, not the node's. */
const inFiles = (directory: string, vertices: ReadonlyArray<Vertex>) => {
  const table = { "signed.db": "own_vertices", "udg.db": "vertices" } as const
  const inFile = (file: keyof typeof table): ReadonlyArray<boolean> => {
    const database = new Sqlite(`${directory}/${file}`, { readonly: true })
    try {
      const known = database.prepare(`select 1 from ${table[file]} where hash = ?`)
      return vertices.map(({ header }) => known.get(Buffer.from(header.hash, "hex")) !== undefined)
    } finally {
      database.close()
    }
  }
  return { signed: inFile("signed.db"), ledger: inFile("udg.db") }
}

/** How many rows each table of the ledger's file holds, read in the same way. */
const countsIn = (directory: string) => {
  const database = new Sqlite(`${directory}/udg.db`, { readonly: true })
  try {
    const count = (table: string) => database.prepare(`select 1 from ${table}`).all().length
    return { vertices: count("vertices"), checkpoints: count("checkpoints"), openings: count("openings") }
  } finally {
    database.close()
  }
}

const vertexWrite = (
  id: number,
  _tag: "Inserted" | "OwnVertex",
  vertex: Vertex,
  companions: ReadonlyArray<Vertex> | null = null,
): Writer.Task => ({
  _tag: "Write",
  id,
  write: _tag === "Inserted" ? { _tag, vertex } : { _tag, vertex, companions },
  isSynced: _tag === "OwnVertex",
})

/** A test of a writer over the files of a directory. */
const writes = (
  name: string,
  body: (
    storage: Storage.Storage["Type"],
    directory: string,
  ) => Generator<YieldWrap<Effect.Effect<unknown, unknown, Supervisor.Supervisor | Scope.Scope>>, unknown, never>,
): void =>
  withDirectory(name, function* (directory) {
    yield* inDirectory(directory, (storage) => Effect.gen(() => body(storage, directory))).pipe(
      Effect.provide(Supervisor.layer),
    )
  })

describe("the writer", () => {
  // Reported earlier, a vertex would be sent that a restart no longer knows, and another signed in its place.
  writes(
    "reports an own vertex as written once it is in the file with the vertices it names",
    function* (storage, directory) {
      const named = [1, 2, 3].map((n) => vertex({ round: 1, author: key(n).publicKey }))
      const own = [2, 3, 4].map((round) => vertex({ round }))
      const seen: Array<unknown> = []
      const done = yield* Deferred.make<void>()
      const listener = {
        written: (id: number) =>
          Effect.suspend(() => {
            seen.push([id, inFiles(directory, [...named, ...own])])
            return id === 9 ? Deferred.succeed(done, undefined) : Effect.void
          }),
        published: () => Effect.void,
      }
      const { perform: give } = yield* Writer.start(storage, yield* Supervisor.Supervisor, listener)
      let id = 0
      for (const [i, each] of own.entries()) {
        const before = named[i]
        if (before !== undefined) give(vertexWrite(++id, "Inserted", before))
        give(vertexWrite(++id, "OwnVertex", each))
        give(vertexWrite(++id, "Inserted", each))
      }
      give(vertexWrite(9, "OwnVertex", vertex({ round: 9 })))
      yield* Deferred.await(done)
      const upTo = (count: number) => [0, 1, 2].map((n) => n < count)
      expect(seen).toEqual([
        [2, { signed: [...upTo(0), ...upTo(1)], ledger: [...upTo(1), ...upTo(0)] }],
        [5, { signed: [...upTo(0), ...upTo(2)], ledger: [...upTo(2), ...upTo(1)] }],
        [8, { signed: [...upTo(0), ...upTo(3)], ledger: [...upTo(3), ...upTo(2)] }],
        [9, { signed: [...upTo(0), ...upTo(3)], ledger: [...upTo(3), ...upTo(3)] }],
      ])
    },
  )

  writes(
    "writes an own vertex with its companions ahead, unless another own one waits for the ledger",
    function* (storage, directory) {
      const named = vertex({ round: 1, author: key(1).publicKey })
      const own = [2, 3, 4].map((round) => vertex({ round }))
      const [second, third, fourth] = own
      if (second === undefined || third === undefined || fourth === undefined) return expect.fail()
      const seen: Array<unknown> = []
      const [ahead, all] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const listener = {
        written: (id: number) =>
          Effect.suspend(() => {
            seen.push([id, inFiles(directory, [named, ...own])])
            return Deferred.succeed(id === 2 ? ahead : all, undefined)
          }),
        published: () => Effect.void,
      }
      const { perform: give } = yield* Writer.start(storage, yield* Supervisor.Supervisor, listener)
      give(vertexWrite(1, "Inserted", named))
      give(vertexWrite(2, "OwnVertex", second, [named]))
      yield* Deferred.await(ahead)
      give(vertexWrite(3, "OwnVertex", third))
      give(vertexWrite(4, "OwnVertex", fourth, []))
      yield* Deferred.await(all)
      yield* Effect.repeat(EventLoop.turn, { until: () => seen.length === 3 })
      expect(seen).toEqual([
        [2, { signed: [false, true, false, false], ledger: [false, false, false, false] }],
        [3, { signed: [false, true, true, false], ledger: [true, false, false, false] }],
        [4, { signed: [false, true, true, true], ledger: [true, false, false, false] }],
      ])
    },
  )

  // Otherwise rounds could stay ahead of the ledger's file indefinitely, and the queue would grow.
  writes("bounds how far own vertices run ahead of the ledger's file", function* (storage, directory) {
    const waiting = Array.from({ length: 256 }, (_, n) => vertex({ round: n + 1, author: key(1).publicKey }))
    const done = yield* Deferred.make<ReadonlyArray<boolean>>()
    const { perform: give } = yield* Writer.start(storage, yield* Supervisor.Supervisor, {
      written: () => Effect.suspend(() => Deferred.succeed(done, inFiles(directory, waiting).ledger)),
      published: () => Effect.void,
    })
    for (const [id, each] of waiting.entries()) give(vertexWrite(id, "Inserted", each))
    give(vertexWrite(256, "OwnVertex", vertex({ round: 257 }), []))
    expect(yield* Deferred.await(done)).toEqual(waiting.map(() => true))
  })

  writes(
    "reports nothing of an own vertex that signed.db refuses, nor of anything after it, and ends",
    function* (storage, directory) {
      const supervisor = yield* Supervisor.Supervisor
      const seen: Array<number> = []
      const { perform: give } = yield* Writer.start(storage, supervisor, {
        written: (id) => Effect.sync(() => void seen.push(id)),
        published: () => Effect.void,
      })
      const own = [1, 2, 3].map((round) => vertex({ round }))
      yield* storage.keepOwn(vertex({ round: 9 }), null)
      const other = new Sqlite(`${directory}/signed.db`, { readonly: false })
      other.prepare("alter table own_vertices rename to elsewhere").run()
      other.close()
      for (const [id, each] of own.entries()) give(vertexWrite(id, "OwnVertex", each))
      const ending = yield* Effect.flip(supervisor.ended)
      expect([ending._tag, seen]).toEqual(["DatabaseFailed", []])
    },
  )

  // Published earlier, a transaction would read as final that a restart no longer knows.
  writes("publishes each write after it is written, in order", function* (storage, directory) {
    const [one, two, three, four] = [1, 2, 3, 4].map((n) => vertex({ round: n }))
    if (one === undefined || two === undefined || three === undefined || four === undefined) return expect.fail()
    const signed = { checkpoint: checkpoint(20), signatures: [] }
    const seen: Array<unknown> = []
    const done = yield* Deferred.make<void>()
    const { perform: give } = yield* Writer.start(storage, yield* Supervisor.Supervisor, {
      written: (id) => Effect.sync(() => void seen.push(id)),
      published: ({ _tag }) =>
        Effect.suspend(() => {
          seen.push([_tag, countsIn(directory)])
          return _tag === "EpochStarted" ? Deferred.succeed(done, undefined) : Effect.void
        }),
    })
    const write = (id: number, write: Write, isSynced = false) => give({ _tag: "Write", id, write, isSynced })
    write(1, { _tag: "Inserted", vertex: one })
    write(2, { _tag: "CheckpointBuilt", checkpoint: checkpoint(10), bytes: 0, isCosigned: false })
    write(3, { _tag: "Inserted", vertex: two })
    give({ _tag: "Publish", event: { _tag: "RoundReached", round: Natural.round(2) } })
    write(4, { _tag: "Inserted", vertex: three })
    write(5, { _tag: "ForeignOwnHeader", header: one.header }, true)
    write(6, { _tag: "CheckpointFinal", signed })
    write(7, { _tag: "Inserted", vertex: four })
    write(8, { _tag: "EpochStarted", opening: opening(1) })
    yield* Deferred.await(done)
    expect(seen).toEqual([
      // It is in no file.
      ["RoundReached", { vertices: 0, checkpoints: 0, openings: 0 }],
      ["CheckpointBuilt", { vertices: 1, checkpoints: 1, openings: 0 }],
      5,
      ["ForeignOwnHeader", { vertices: 3, checkpoints: 1, openings: 0 }],
      ["CheckpointFinal", { vertices: 3, checkpoints: 2, openings: 0 }],
      ["EpochStarted", { vertices: 4, checkpoints: 2, openings: 1 }],
    ])
  })

  it.scopedLive("delays writes without a waiting client, until their time is over or a client waits", () =>
    Effect.gen(function* () {
      const directory = yield* world.temporaryDirectory
      const vertices = [1, 2, 3].map((round) => vertex({ round }))
      const held = () => inFiles(directory, vertices).ledger
      yield* within(directory, function* (storage) {
        const listener = { written: () => Effect.void, published: () => Effect.void }
        vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
        const writer = yield* Writer.start(storage, yield* Supervisor.Supervisor, listener)
        const give = (id: number) => writer.perform(vertexWrite(id, "Inserted", vertices[id] ?? expect.fail()))
        const gathers = Effect.repeat(EventLoop.turn, { until: writer.isGathering })
        give(0)
        give(1)
        yield* gathers
        expect(held()).toEqual([false, false, false])
        const done = yield* Deferred.make<void>()
        writer.perform({ _tag: "Awaited", done })
        yield* Deferred.await(done)
        expect(held()).toEqual([true, true, false])
        give(2)
        yield* gathers
        expect(held()).toEqual([true, true, false])
        vi.advanceTimersByTime(4_000)
        yield* Effect.repeat(EventLoop.turn, { until: () => held()[2] === true })
      })
    }).pipe(
      Effect.ensuring(Effect.sync(() => vi.useRealTimers())),
      Effect.provide(Supervisor.layer),
      Effect.provide(world.platform),
    ),
  )

  it("ends a transaction at another kind of write or after many transactions, and omits none", () => {
    const one = vertex({ round: 1 })
    const many = vertex({ round: 2, transactions: Array.from({ length: 600 }, (_, n) => transfer(n, 1, 0)) })
    const inserted = (id: number) => vertexWrite(id, "Inserted", one)
    const reached: Writer.Task = { _tag: "Publish", event: { _tag: "RoundReached", round: Natural.round(2) } }
    const own = vertexWrite(4, "OwnVertex", one)
    const commit = (id: number, vertices: ReadonlyArray<Vertex>): Writer.Task => {
      const settled: ReadonlyArray<never> = []
      const write = { _tag: "Executed", execution: execution(id), vertices, settled } as const
      return { _tag: "Write", id, isSynced: false, write }
    }
    const [empty, full, fuller] = [commit(5, [one]), commit(6, [many]), commit(7, [many])]
    const tasks = [inserted(1), empty, reached, inserted(2), own, full, inserted(3), fuller, empty]
    expect(Writer.grouped(tasks)).toEqual([tasks.slice(0, 5), tasks.slice(5, 8), tasks.slice(8)])
    expect(Writer.grouped([])).toEqual([])
  })

  // Its timeout was as uninterruptible as its finalizer, so a shutdown could wait for ever.
  it.effect("limits a shutdown's wait to two and a half seconds, however long the started work takes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const listener = { written: () => Effect.void, published: () => Effect.never }
      const start = Writer.start(yield* Storage.Storage, yield* Supervisor.Supervisor, listener)
      const { perform: give } = yield* Scope.extend(start, scope)
      give({ _tag: "Publish", event: { _tag: "RoundReached", round: Natural.round(1) } })
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.poll(closing)).toEqual(Option.none())
      yield* TestClock.adjust("500 millis")
      expect(yield* Fiber.join(closing)).toBeUndefined()
    }).pipe(Effect.provide(Layer.merge(inMemory, Supervisor.layer)), Effect.provide(world.platform)),
  )
})
