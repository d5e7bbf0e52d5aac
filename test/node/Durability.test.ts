/** When data is on the disk, with the node's own writer and files: the rules of docs/storage.md. */
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import * as Supply from "../../src/ledger/tables/Supply.js"
import * as Archive from "../../src/node/engine/Archive.js"
import * as Disk from "../../src/node/engine/Disk.js"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import type { Encoded, Vertex } from "../../src/protocol/vertex/Vertex.js"
import * as Message from "../../src/replica/messages/Message.js"
import * as Write from "../../src/replica/output/Write.js"
import type { Storage } from "../../src/storage/Storage.js"
import { Sqlite } from "../../src/storage/sqlite/Driver.js"
import { withStorage } from "../storage/withStorage.js"
import * as storage from "../storage/world.js"
import { withDirectory } from "./withDirectory.js"
import * as world from "./world.js"

type Kept = Storage["Type"]

const isIn = (file: string, table: string, hash: Hash): boolean => {
  const database = new Sqlite(file, { readonly: true })
  try {
    return database.prepare(`select 1 from ${table} where hash = ?`).get(Buffer.from(hash, "hex")) !== undefined
  } finally {
    database.close()
  }
}

describe("a node", () => {
  withDirectory("sends no vertex that is not in signed.db or that names one in neither file", function* (directory) {
    const early: Array<string> = []
    let heard = 0
    const network = world.overheard(({ header: { round, hash, parents } }) => {
      heard++
      if (!isIn(`${directory}/signed.db`, "own_vertices", hash)) early.push(`${round}: itself`)
      for (const parent of parents) {
        const isThere =
          isIn(`${directory}/signed.db`, "companions", parent.hash) ||
          isIn(`${directory}/udg.db`, "vertices", parent.hash)
        if (!isThere) early.push(`${round}: its parent`)
      }
    })
    yield* Effect.provide(world.untilRound(30), world.node(directory, {}, network))
    expect(heard).toBeGreaterThanOrEqual(30)
    expect(early).toEqual([])
  })
})

describe("each write", () => {
  const vertex = storage.vertex({ round: 1 })
  const closing = { checkpoint: storage.checkpoint(9, { epoch: Natural.epoch(1) }), signatures: [] }
  const writes: ReadonlyArray<Write.Write> = [
    { _tag: "Inserted", vertex },
    { _tag: "OwnVertex", vertex, companions: null },
    { _tag: "OwnVertex", vertex, companions: [vertex] },
    { _tag: "Executed", execution: storage.execution(1), vertices: [], settled: [] },
    { _tag: "CheckpointBuilt", checkpoint: closing.checkpoint, bytes: 0, isCosigned: false },
    { _tag: "CheckpointFinal", signed: closing },
    { _tag: "EpochStarted", opening: storage.opening(2) },
    { _tag: "Pending", added: [], removed: [] },
    { _tag: "ForeignOwnHeader", header: vertex.header },
    { _tag: "JoinBegun", target: closing },
    { _tag: "JoinSubtree", subtree: new Uint8Array(3) },
    { _tag: "Joined", target: closing, totals: Supply.zero, proven: [], opening: storage.opening(2) },
  ]

  it.effect.each(writes)("$_tag is one transaction, in the file and with the sync that the rules require", (write) =>
    storage
      .inMemory((real) =>
        Effect.gen(function* () {
          const done: Array<string> = []
          const noted = <A, E>(what: string, effect: Effect.Effect<A, E>) =>
            Effect.tap(effect, () => Effect.sync(() => done.push(what)))
          const watched: Kept = {
            ...real,
            keepOwn: (vertex, companions, before) =>
              noted(
                companions === null ? "udg.db synced, then signed.db" : "signed.db",
                real.keepOwn(vertex, companions, before),
              ),
            replaceState: (each) => noted("udg.db synced", real.replaceState(each)),
            append: (each) => noted("udg.db", real.append(each)),
            epochs: { ...real.epochs, begin: (each) => noted("udg.db synced", real.epochs.begin(each)) },
            pending: { ...real.pending, update: (...each) => noted("udg.db", real.pending.update(...each)) },
            joins: {
              ...real.joins,
              begin: (each) => noted("udg.db", real.joins.begin(each)),
              add: (each) => noted("udg.db", real.joins.add(each)),
            },
            checkpoints: {
              ...real.checkpoints,
              put: (each) => noted("udg.db", real.checkpoints.put(each)),
              putBuilt: (each) => noted("udg.db", real.checkpoints.putBuilt(each)),
            },
            signed: {
              ...real.signed,
              keepForeign: (...each) => noted("signed.db", real.signed.keepForeign(...each)),
            },
          }
          const [batch] = Disk.batched([write])
          if (batch === undefined) return expect.fail()
          yield* Disk.keep(watched, batch, Natural.timestamp(0))
          const ledger = Write.syncsLedger(write) ? "udg.db synced" : "udg.db"
          const signed = Write.syncsLedger(write) ? "udg.db synced, then signed.db" : "signed.db"
          expect(done).toEqual([Write.fileOf(write) === "signed" ? signed : ledger])
        }),
      )
      .pipe(Effect.provide(storage.platform)),
  )
})

describe("an own vertex that is only in signed.db", () => {
  const own = (round: number, transactions: ReadonlyArray<Transaction> = []): Vertex =>
    storage.vertex({ round, transactions })
  const other = (round: number): Vertex => storage.vertex({ round, author: storage.key(3).publicKey })

  type RoundsAnswer = Extract<Message.Answer<Encoded>, { _tag: "Rounds" }>

  const isWithheld = (hash: Hash): boolean => hash === own(9).header.hash

  const rounds = (kept: Kept, from: number, to: number, after: Hash | null = null) =>
    Effect.map(
      Archive.answer(
        kept,
        {
          _tag: "AskRounds",
          epoch: Natural.epoch(1),
          fromRound: Natural.round(from),
          toRound: Natural.round(to),
          after,
        },
        isWithheld,
      ),
      (answer) => (answer._tag === "Rounds" ? answer : expect.fail()),
    )

  withStorage("is served by its hash unless it is withheld", function* (kept) {
    yield* kept.append(storage.inserted([other(1), own(1)]))
    for (const round of [1, 2, 3]) yield* kept.keepOwn(own(round), null)
    const hashes = [own(3), own(2), other(2), other(1), own(1)].map(({ header }) => header.hash)
    const answer = yield* Archive.answer(kept, { _tag: "AskVertices", hashes }, (hash) => hash === own(3).header.hash)
    expect(answer).toEqual({
      _tag: "Vertices",
      vertices: [own(2), other(1), own(1)].map(({ encoded }) => ({ encoded })),
    })
  })

  withStorage("is not looked up for a question that has named sixteen unknown hashes", function* (kept) {
    yield* kept.append(storage.inserted([own(1)]))
    const found = (unknown: number) =>
      Archive.answer(
        kept,
        {
          _tag: "AskVertices",
          hashes: [...Array.from({ length: unknown }, (_, n) => other(n + 1)), own(1)].map(({ header }) => header.hash),
        },
        () => false,
      )
    expect(yield* found(15)).toMatchObject({ vertices: [{ encoded: own(1).encoded }] })
    expect(yield* found(16)).toMatchObject({ vertices: [] })
  })

  withStorage("is served with its round, after the DAG's vertices and in round order", function* (kept) {
    for (const round of [1, 2, 3, 4, 5, 9]) yield* kept.keepOwn(own(round), null)
    yield* kept.append(storage.inserted([other(1), own(1), other(2), own(2), other(3)]))
    const { vertices, isLast } = yield* rounds(kept, 2, 4)
    expect(isLast).toBe(true)
    expect(vertices).toEqual([other(2), own(2), other(3), own(3), own(4)].map(({ encoded }) => ({ encoded })))
    expect((yield* rounds(kept, 1, 2)).vertices).toHaveLength(4)
    expect((yield* rounds(kept, 1, 9, own(4).header.hash)).vertices).toEqual([{ encoded: own(5).encoded }])
  })

  withStorage("is served page by page, each within the size limit of an answer", function* (kept) {
    const transactions = Array.from({ length: 3_000 }, (_, nonce) => storage.transfer(1, 2, nonce))
    const made = Array.from({ length: 9 }, (_, n) => own(n + 1, transactions))
    expect(made[0]?.encoded.length).toBeGreaterThan(Message.ANSWER_BYTES / 5)
    for (const vertex of made) yield* kept.keepOwn(vertex, null)
    yield* kept.append(storage.inserted(made.slice(0, 2)))
    const got: Array<Uint8Array> = []
    let after: Hash | null = null
    for (let pages = 1; ; pages++) {
      const { vertices, isLast }: RoundsAnswer = yield* rounds(kept, 1, 99, after)
      const bytes = vertices.reduce((sum, { encoded }) => sum + encoded.length, 0)
      expect(bytes).toBeLessThanOrEqual(Message.ANSWER_BYTES)
      got.push(...vertices.map(({ encoded }) => encoded))
      after = made[got.length - 1]?.header.hash ?? null
      if (isLast) break
      expect(pages).toBeLessThan(12)
    }
    expect(got.map((bytes) => made.findIndex(({ encoded }) => Buffer.compare(encoded, bytes) === 0))).toEqual(
      made.map((_, n) => n),
    )
  })
})
