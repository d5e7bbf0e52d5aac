import { statSync } from "node:fs"
import { Effect, Either, Option } from "effect"
import { describe, expect } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type * as Storage from "../../src/storage/Storage.js"
import type { Arrival, Page, StoredVertex } from "../../src/storage/tables/Vertices.js"
import { withDirectory, withStorage } from "./withStorage.js"
import * as world from "./world.js"

const hashes = (vertices: ReadonlyArray<StoredVertex>) => vertices.map(({ hash }) => hash)
const hashesOf = (vertices: ReadonlyArray<Vertex.Vertex>) => vertices.map(({ header }) => header.hash)

const at = (epoch: number, round: number, author: number) =>
  world.vertex({ epoch, round, author: world.key(author).publicKey })

const byAuthor = (vertices: ReadonlyArray<Vertex.Vertex>) =>
  [...vertices].sort((a, b) => (a.header.author < b.header.author ? -1 : 1))

const rounds = (storage: Storage.Storage["Type"], [fromRound, toRound]: readonly [number, number], maxBytes: number) =>
  Effect.gen(function* () {
    const pages: Array<ReadonlyArray<StoredVertex>> = []
    let after: Arrival | null = null
    for (;;) {
      const page: Page = yield* storage.vertices.ofEpoch({
        epoch: Natural.epoch(1),
        fromRound: Natural.round(fromRound),
        toRound: Natural.round(toRound),
        after,
        maxBytes,
      })
      const last = page.vertices.at(-1)
      if (last !== undefined) pages.push(page.vertices)
      if (last === undefined || page.isLast) return pages
      after = last.arrival
    }
  })

/** All ways to read a whole vertex. */
const readings = (storage: Storage.Storage["Type"], vertex: Vertex.Vertex, commit: number | null) =>
  Effect.gen(function* () {
    const { hash, round } = vertex.header
    const named = Option.toArray(yield* storage.vertices.byHash(hash))
    const paged = (yield* rounds(storage, [round, round], 1)).flat()
    const ordered = commit === null ? [] : yield* storage.vertices.ofCommit(Natural.commitIndex(commit))
    return [named, paged, ...(commit === null ? [] : [ordered])].map((found) => found.map(({ bytes }) => bytes))
  })

describe("the vertices", () => {
  withDirectory("are returned whole wherever their transactions are, which are stored once", function* (path) {
    const transactions = Array.from({ length: 100 }, (_, n) => world.transfer(n, n + 1, 7))
    const [recorded, partly, bare] = [
      world.vertex({ round: 1, transactions }),
      world.vertex({ round: 2, transactions: transactions.slice(0, 2) }),
      world.vertex({ round: 3 }),
    ]
    const ordered = world.ordered(partly)
    yield* world.within(path, function* (storage) {
      yield* storage.append(world.inserted([recorded, partly, bare]))
      for (const vertex of [recorded, partly, bare]) {
        expect(yield* readings(storage, vertex, null)).toEqual([[vertex.encoded], [vertex.encoded]])
      }
      yield* storage.append([{ _tag: "Commit", batch: world.batch(1, { vertices: [world.ordered(recorded)] }) }])
      // The second of its transactions had no effect, so nothing is recorded for it.
      const executed = ordered.executed.slice(0, 1)
      yield* storage.append([{ _tag: "Commit", batch: world.batch(2, { vertices: [{ ...ordered, executed }] }) }])
      yield* storage.append([{ _tag: "Commit", batch: world.batch(3, { vertices: [world.ordered(bare)] }) }])
      // Again, as after a crash: nothing is stored twice.
      yield* storage.append(world.inserted([recorded, partly, bare]))
      for (const [i, vertex] of [recorded, partly, bare].entries()) {
        expect(yield* readings(storage, vertex, i + 1)).toEqual([[vertex.encoded], [vertex.encoded], [vertex.encoded]])
      }
    })
    const kept = "select v.round from vertex_transactions t join vertices v on v.id = t.vertex_id"
    expect(yield* world.sqlite(`${path}/udg.db`, kept)).toEqual([[2]])
    const rest = "select sum(length(bytes)) from vertex_bytes where vertex_id = 1"
    const { size } = Vertex.transactionsIn(recorded)
    expect(yield* world.sqlite(`${path}/udg.db`, rest)).toEqual([[recorded.encoded.length - size]])
  })

  withStorage("are returned whole, by hash and by round, across epochs", function* (storage) {
    const vertices = [at(1, 7, 0), at(1, 7, 1), at(2, 7, 2), at(2, 8, 0)]
    yield* storage.append(world.inserted(vertices))
    const [first] = vertices
    expect(yield* storage.vertices.byHash(first?.header.hash ?? expect.fail())).toEqual(
      Option.some({
        arrival: 1,
        hash: first?.header.hash,
        epoch: 1,
        round: 7,
        author: first?.header.author,
        timestamp: first?.header.timestamp,
        commitIndex: null,
        bytes: first?.encoded,
      }),
    )
    const round = yield* storage.vertices.headsAt(Natural.round(7))
    expect(hashes(round)).toEqual(hashesOf(byAuthor(vertices.slice(0, 3))))
    expect(yield* storage.vertices.headsAt(Natural.round(9))).toEqual([])
    expect(yield* storage.vertices.byHash(at(3, 3, 3).header.hash)).toEqual(Option.none())
  })

  withStorage("of a round can be returned without their bodies", function* (storage) {
    const transactions = Array.from({ length: 400 }, (_, nonce) => world.transfer(3, 4, nonce))
    yield* storage.append(world.inserted([world.vertex({ round: 7, transactions })]))
    const [stored] = yield* storage.vertices.headsAt(Natural.round(7))
    expect(stored?.bytes.length).toBeLessThanOrEqual(Vertex.HEAD_BYTES)
    expect(Either.getOrThrow(Vertex.decodeHead(stored?.bytes ?? expect.fail())).transactionCount).toBe(400)
  })

  withStorage("are kept once, and keep their place in the order when they come again", function* (storage) {
    const vertices = [at(1, 1, 0), at(1, 1, 1)]
    yield* storage.append(world.inserted(vertices))
    yield* storage.append([
      { _tag: "Commit", batch: world.batch(1, { vertices: [...vertices].reverse().map(world.ordered) }) },
    ])
    yield* storage.append(world.inserted(vertices))
    expect(yield* storage.vertices.count).toBe(2)
    const ordered = yield* storage.vertices.ofCommit(Natural.commitIndex(1))
    expect(hashes(ordered)).toEqual(hashesOf([...vertices].reverse()))
    expect(ordered.map(({ commitIndex }) => commitIndex)).toEqual([1, 1])
  })

  withStorage(
    "of an epoch's rounds come in pages of limited size, each once, in order of arrival",
    function* (storage) {
      // Descending rounds of two epochs, mixed: only the order of arrival gives this result.
      const vertices = Array.from({ length: 60 }, (_, n) => at(n % 3 === 0 ? 2 : 1, 20 - (n >> 2), n % 4))
      yield* storage.append(world.inserted(vertices.slice(0, 30)))
      yield* storage.append(world.inserted(vertices.slice(20)))
      const size = vertices[0]?.encoded.length ?? expect.fail()
      for (const [range, maxBytes, longest] of [
        [[0, 20], 1, 1],
        [[0, 20], size * 3, 3],
        [[0, 20], size * 1_000, 40],
        [[10, 12], size * 1_000, 8],
      ] as const) {
        const [from, to] = range
        const expected = vertices.filter(({ header: { epoch, round } }) => epoch === 1 && round >= from && round <= to)
        const pages = yield* rounds(storage, range, maxBytes)
        expect(hashes(pages.flat())).toEqual(hashesOf(expected))
        expect(Math.max(...pages.map(({ length }) => length))).toBe(longest)
      }
    },
  )

  withStorage("of an epoch show each author's latest", function* (storage) {
    const last = [at(2, 9, 0), at(2, 7, 1), at(2, 8, 2)]
    const others = [at(2, 8, 0), at(2, 6, 1), at(1, 20, 1), at(3, 30, 0)]
    yield* storage.append(world.inserted([...others.slice(0, 2), ...last, ...others.slice(2)]))
    const heads = yield* storage.vertices.highestHeads(Natural.epoch(2))
    expect(hashes(heads)).toEqual(hashesOf(byAuthor(last)))
    const decoded = heads.map(({ bytes }) => Either.getOrThrow(Vertex.decodeHead(bytes)).header)
    expect(decoded).toEqual(byAuthor(last).map(({ header }) => header))
    expect(yield* storage.vertices.highestHeads(Natural.epoch(4))).toEqual([])
  })

  withStorage("are pruned below both a round and an epoch, a slice at a time, ordered or not", function* (storage) {
    const old = Array.from({ length: 5 }, (_, n) => at(1, n, 0))
    const kept = [at(1, 10, 0), at(2, 3, 1), at(3, 12, 0)]
    yield* storage.append(world.inserted([...old, ...kept]))
    yield* storage.append([{ _tag: "Commit", batch: world.batch(1, { vertices: old.slice(0, 2).map(world.ordered) }) }])
    const request = { beforeRound: Natural.round(10), beforeEpoch: Natural.epoch(2), limit: 3 }
    expect(yield* storage.vertices.prune(request)).toBe(3)
    expect(yield* storage.vertices.prune(request)).toBe(2)
    expect(yield* storage.vertices.prune(request)).toBe(0)
    expect(yield* storage.vertices.count).toBe(kept.length)
    for (const { header, encoded } of kept) {
      const found = Option.getOrThrow(yield* storage.vertices.byHash(header.hash))
      expect(found.bytes).toEqual(encoded)
    }
  })

  withDirectory("are found by their hashes in every block", function* (path) {
    const vertices = Array.from({ length: 1_300 }, (_, n) => at(n < 1_100 ? 1 : 2, n >> 2, n % 4))
    yield* world.within(path, function* (storage) {
      const areFound = Effect.gen(function* () {
        for (const [i, { header }] of vertices.entries()) {
          if (i % 50 !== 0 && i < 1_280) continue
          expect(Option.getOrThrow(yield* storage.vertices.byHash(header.hash)).round).toBe(header.round)
          expect(yield* storage.vertices.arrivalOf(header.hash)).toEqual(Option.some(i + 1))
          expect(yield* storage.vertices.beginningWith(header.hash.slice(0, 12), 5)).toEqual([header.hash])
        }
        const first = hashesOf(vertices).sort().slice(0, 7)
        expect(yield* storage.vertices.beginningWith("", 7)).toEqual(first)
        expect(yield* storage.vertices.byHash(at(9, 9, 9).header.hash)).toEqual(Option.none())
        expect(yield* storage.vertices.arrivalOf(at(9, 9, 9).header.hash)).toEqual(Option.none())
      })
      yield* storage.append(world.inserted(vertices))
      yield* areFound
    })
    const blocks = "select block, count(*) from vertices group by block order by 1"
    expect(yield* world.sqlite(`${path}/udg.db`, blocks)).toEqual([
      [0, 511],
      [512, 512],
      [1_024, 277],
    ])
  })

  withDirectory("have longer blocks the more of them there are", function* (path) {
    yield* world.inDirectory(path, () => Effect.void)
    const old = `insert into vertices (id, hash, epoch, round, author, timestamp, block)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 256000)
        select i, randomblob(32), 1, i / 4, zeroblob(20), 0, 0 from n`
    yield* world.sqlite(`${path}/udg.db`, old)
    yield* world.sqlite(`${path}/udg.db`, "insert into vertex_bytes (vertex_id, bytes) select id, x'00' from vertices")
    const vertices = Array.from({ length: 1_300 }, (_, n) => at(1, 64_001 + (n >> 2), n % 4))
    yield* world.inDirectory(path, (storage) => storage.append(world.inserted(vertices)))
    const blocks = "select block, count(*) from vertices group by block order by 1"
    expect(yield* world.sqlite(`${path}/udg.db`, blocks)).toEqual([
      [0, 256_000],
      [256_001, 1_003],
      [257_004, 297],
    ])
  })

  withDirectory("write a few pages for twenty of them, however many exist", function* (path) {
    const vertices = Array.from({ length: 4_020 }, (_, n) => at(1, n >> 2, n % 4))
    yield* world.within(path, function* (storage) {
      yield* storage.append(world.inserted(vertices.slice(0, -20)))
      const before = statSync(`${path}/udg.db-wal`).size
      yield* storage.append(world.inserted(vertices.slice(-20)))
      expect(statSync(`${path}/udg.db-wal`).size - before).toBeLessThan(26 * 4_120)
    })
  })
})
