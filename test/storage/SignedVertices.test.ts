import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Storage } from "../../src/storage/Storage.js"
import * as SignedSchema from "../../src/storage/schema/Signed.js"
import type * as Database from "../../src/storage/sqlite/Database.js"
import type { SignedVertex } from "../../src/storage/tables/SignedVertices.js"
import { withDirectory, withStorage } from "./withStorage.js"
import * as world from "./world.js"

const stored = ({ header, encoded }: Vertex) => ({
  author: header.author,
  epoch: header.epoch,
  round: header.round,
  hash: header.hash,
  bytes: encoded,
})

describe("signed vertices", () => {
  withDirectory("survive a restart, and allow nothing else for their slot", function* (path) {
    const vertex = world.vertex({ epoch: 3, round: 700, timestamp: 1 })
    const second = world.vertex({ epoch: 3, round: 700, timestamp: 2 })
    yield* world.inDirectory(path, (storage) => storage.signed.keep(vertex))
    yield* world.within(path, function* (storage) {
      expect(yield* storage.signed.byHash(vertex.header.hash)).toEqual(Option.some(stored(vertex)))
      yield* storage.signed.keep(vertex)
      const refused = yield* Effect.flip(storage.signed.keep(second))
      expect(refused).toMatchObject({ _tag: "AlreadySigned", epoch: 3, round: 700, hash: vertex.header.hash })
      expect(yield* storage.signed.byHash(vertex.header.hash)).toEqual(Option.some(stored(vertex)))
      expect(yield* storage.signed.byHash(second.header.hash)).toEqual(Option.none())
    })
  })

  withDirectory("have companions until the ledger's file is synced, or their epoch is pruned", function* (path) {
    const [one, two, three] = [1, 2, 3].map((round) =>
      world.vertex({ epoch: 3, round, author: world.key(5).publicKey }),
    )
    if (one === undefined || two === undefined || three === undefined) return expect.fail()
    const own = (round: number) => world.vertex({ epoch: 3, round })
    const kept = (storage: Storage["Type"], epoch = 3) =>
      Effect.map(storage.signed.companions(Natural.epoch(epoch)), (rows) => rows.map(({ hash }) => hash))
    yield* world.within(path, function* (storage) {
      yield* storage.signed.keep(own(1), [])
      yield* storage.keepOwn(own(2), [two, one])
      // The vertex is stored already; its companions are not.
      yield* storage.keepOwn(own(2), [three])
    })
    yield* world.within(path, function* (storage) {
      expect(yield* kept(storage)).toEqual([two, one, three].map(({ header }) => header.hash))
      expect(yield* kept(storage, 2)).toEqual([])
      yield* storage.signed.prune(Natural.epoch(3))
      expect(yield* kept(storage)).toHaveLength(3)
      yield* storage.keepOwn(own(3), null)
      expect(yield* kept(storage)).toEqual([])
      yield* storage.keepOwn(own(4), [one])
      yield* storage.signed.prune(Natural.epoch(4))
      expect(yield* kept(storage)).toEqual([])
    })
  })

  withStorage("are distinguished by author, epoch and round", function* (storage) {
    const other = world.key(5).publicKey
    const vertices = [
      world.vertex({ epoch: 1, round: 9 }),
      world.vertex({ epoch: 2, round: 9 }),
      world.vertex({ epoch: 2, round: 10 }),
      world.vertex({ epoch: 2, round: 10, author: other }),
    ]
    for (const vertex of vertices) yield* storage.signed.keep(vertex)
    const [a, b, c] = vertices
    const author = a?.header.author ?? expect.fail()
    const since = (epoch: number) =>
      Effect.gen(function* () {
        const loaded: Array<SignedVertex> = []
        yield* storage.signed.load(author, Natural.epoch(epoch), (page) => loaded.push(...page))
        return loaded
      })
    const mine = [a, b, c].flatMap((vertex) => (vertex === undefined ? [] : [stored(vertex)]))
    expect(yield* since(1)).toEqual(mine)
    expect(yield* since(2)).toEqual(mine.slice(1))
    expect(yield* storage.signed.prune(Natural.epoch(2))).toBe(1)
    expect(yield* since(1)).toEqual(mine.slice(1))
  })

  withStorage("are stored beside the headers that came from elsewhere", function* (storage) {
    const [low, high] = [world.vertex({ round: 5 }).header, world.vertex({ epoch: 2, round: 1 }).header]
    yield* storage.signed.keepForeign(low, Natural.timestamp(10))
    yield* storage.signed.keepForeign(high, Natural.timestamp(20))
    yield* storage.signed.keepForeign(low, Natural.timestamp(30))
    const foreign = yield* storage.signed.foreign(low.author, 9)
    expect(foreign.map(({ hash, seenAt }) => [hash, seenAt])).toEqual([
      [high.hash, 20],
      [low.hash, 30],
    ])
    expect(foreign[1]?.bytes).toEqual(Header.encode(low))
  })

  withDirectory("are synced with every write, other files at their checkpoints", function* (path) {
    const synchronous = (durability: Database.Durability) =>
      Effect.flatMap(
        world.open({ file: `${path}/${durability}.db`, durability, migrations: SignedSchema.migrations }),
        (database) => database.write((sql) => sql`pragma synchronous`.values),
      )
    expect(yield* synchronous("power")).toEqual([[2]])
    expect(yield* synchronous("process")).toEqual([[1]])
  })

  withStorage("are loaded page by page, oldest first", function* (storage) {
    const vertices = Array.from({ length: 100 }, (_, n) => world.vertex({ epoch: 1 + (n >> 6), round: n }))
    for (const vertex of [...vertices].reverse()) yield* storage.signed.keep(vertex)
    const author = vertices[0]?.header.author ?? expect.fail()
    const loaded: Array<SignedVertex> = []
    yield* storage.signed.load(author, Natural.epoch(0), (page) => loaded.push(...page))
    expect(loaded).toEqual(vertices.map(stored))
  })
})
