import { statSync } from "node:fs"
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Transaction } from "../../src/protocol/transaction/Transaction.js"
import type * as Storage from "../../src/storage/Storage.js"
import type { RecordedTransaction } from "../../src/storage/tables/Transactions.js"
import { withDirectory, withStorage } from "./withStorage.js"
import * as world from "./world.js"

/** Appends a commit of one vertex with these transactions. */
const commit = (storage: Storage.Storage["Type"], index: number, transactions: ReadonlyArray<Transaction>) =>
  Effect.gen(function* () {
    const vertex = world.vertex({ round: index, transactions })
    yield* storage.append(world.inserted([vertex]))
    yield* storage.append([{ _tag: "Commit", batch: world.batch(index, { vertices: [world.ordered(vertex)] }) }])
    return vertex
  })

const historyOf = (storage: Storage.Storage["Type"], n: number, limit: number) =>
  Effect.gen(function* () {
    const pages: Array<ReadonlyArray<string>> = []
    let before: number | null = null
    for (;;) {
      const page: ReadonlyArray<RecordedTransaction> = yield* storage.transactions.history({
        address: world.address(n),
        before,
        limit,
      })
      const last = page.at(-1)
      if (last === undefined) return pages
      pages.push(page.map(({ transaction }) => transaction.id))
      before = last.sequence
    }
  })

describe("a transaction", () => {
  withStorage("is found with all details of the lookup", function* (storage) {
    const transaction = world.transfer(1, 2, 0)
    const vertex = yield* commit(storage, 5, [world.transfer(3, 4, 0), transaction])
    const found = Option.getOrThrow(yield* storage.transactions.byId(transaction.id))
    expect(found).toEqual({
      sequence: 2,
      transaction,
      outcome: { failure: null, proposalId: null, charged: null },
      commitIndex: 5,
      commitTime: world.commit(5).time,
      leaderRound: 5,
      vertex: {
        hash: vertex.header.hash,
        round: 5,
        author: vertex.header.author,
        timestamp: vertex.header.timestamp,
      },
    })
    expect(yield* storage.transactions.byId(world.transfer(9, 9, 9).id)).toEqual(Option.none())
  })

  withStorage("keeps its failure's reason, and the proposal it made", function* (storage) {
    const transactions = [world.transfer(1, 2, 0), world.transfer(1, 2, 1)]
    const [failed, proposing] = transactions
    const outcomes = [
      {
        failure: { code: "InsufficientBalance", reason: "5 sats needed, 3 available" },
        proposalId: null,
        charged: null,
      },
      { failure: null, proposalId: Natural.proposalId(7), charged: 1_000_001 },
    ]
    const vertex = world.vertex({ round: 1, transactions })
    yield* storage.append(world.inserted([vertex]))
    const executed = transactions.map((transaction, i) => ({
      ...world.applied(transaction, i),
      outcome: outcomes[i] ?? expect.fail(),
    }))
    yield* storage.append([
      { _tag: "Commit", batch: world.batch(1, { vertices: [{ ...world.ordered(vertex), executed }] }) },
    ])
    const found = yield* Effect.forEach([failed, proposing], (transaction) =>
      storage.transactions.byId(transaction?.id ?? expect.fail()),
    )
    expect(found.map((one) => Option.getOrThrow(one).outcome)).toEqual(outcomes)
  })

  withStorage("is found among many of every size, each with its outcome", function* (storage) {
    const memoOf = (n: number) => "m".repeat((n * 37) % (Limits.MEMO_BYTES + 1))
    const transactions = Array.from({ length: 300 }, (_, n) => world.transfer(n % 5, 9, n, memoOf(n)))
    const vertices = [0, 1, 2].map((n) =>
      world.vertex({ round: n + 1, transactions: transactions.slice(n * 100, n * 100 + 100) }),
    )
    yield* storage.append(world.inserted(vertices))
    const outcomeOf = (n: number) => ({
      failure: n % 7 === 0 ? { code: "NonceTooLow", reason: `${n}` } : null,
      proposalId: n % 11 === 0 ? Natural.proposalId(n) : null,
      charged: n % 13 === 0 ? n : null,
    })
    const ordered = vertices.map(world.ordered).map(({ executed, ...vertex }, i) => ({
      ...vertex,
      executed: executed.map((one, n) => ({ ...one, outcome: outcomeOf(i * 100 + n) })),
    }))
    yield* storage.append([{ _tag: "Commit", batch: world.batch(1, { vertices: ordered }) }])
    for (const [n, transaction] of transactions.entries()) {
      expect(Option.getOrThrow(yield* storage.transactions.byId(transaction.id))).toMatchObject({
        sequence: n + 1,
        transaction,
        outcome: outcomeOf(n),
        vertex: { hash: vertices[Math.floor(n / 100)]?.header.hash },
      })
    }
    expect((yield* historyOf(storage, 9, 70)).flat()).toEqual(transactions.map(({ id }) => id).reverse())
  })

  withStorage("keeps its place in the vertex, beside those that left no trace", function* (storage) {
    const vertex = world.vertex({
      round: 1,
      transactions: Array.from({ length: 6 }, (_, n) => world.transfer(1, 2, n)),
    })
    yield* storage.append(world.inserted([vertex]))
    const { executed, ...ordered } = world.ordered(vertex)
    const recorded = [1, 2, 4].map((position) => executed[position] ?? expect.fail())
    yield* storage.append([
      { _tag: "Commit", batch: world.batch(1, { vertices: [{ ...ordered, executed: recorded }] }) },
    ])
    const places = yield* storage.transactions.ofVertex(Natural.commitIndex(1), vertex.header.hash)
    expect(places.map(({ position }) => position).sort()).toEqual([1, 2, 4])
    for (const { transaction } of recorded) {
      const found = yield* storage.transactions.byId(transaction.id)
      expect(Option.map(found, (one) => one.transaction)).toEqual(Option.some(transaction))
    }
  })

  withDirectory("is not mistaken for another under the same key", function* (path) {
    const [mine, other, unknown] = [world.transfer(1, 2, 0), world.transfer(1, 2, 1), world.transfer(1, 2, 2)]
    yield* world.inDirectory(path, (storage) => commit(storage, 1, [other, mine]))
    const keyOf = ({ id }: Transaction) => Number.parseInt(id.slice(0, 12), 16)
    const keys = `(${keyOf(mine)}, 1), (${keyOf(unknown)}, 2)`
    yield* world.sqlite(`${path}/udg.db`, `insert into transaction_keys (key, sequence) values ${keys}`)
    yield* world.within(path, function* (storage) {
      expect(Option.getOrThrow(yield* storage.transactions.byId(mine.id))).toMatchObject({ sequence: 2 })
      expect(yield* storage.transactions.byId(unknown.id)).toEqual(Option.none())
    })
  })

  withStorage("is still found when its vertex is pruned", function* (storage) {
    const transaction = world.transfer(1, 2, 0)
    const vertex = yield* commit(storage, 1, [transaction])
    const before = yield* storage.transactions.byId(transaction.id)
    yield* storage.vertices.prune({ beforeRound: Natural.round(9), beforeEpoch: Natural.epoch(9), limit: 9 })
    expect(yield* storage.vertices.byHash(vertex.header.hash)).toEqual(Option.none())
    expect(yield* storage.transactions.byId(transaction.id)).toEqual(before)
  })
})

describe("a moment", () => {
  withStorage(
    "maps to the first transaction of the commits from then on, even among pruned or empty ones",
    function* (storage) {
      for (const index of [1, 2, 3, 4, 5, 6]) {
        yield* commit(storage, index, index % 2 === 0 ? [] : [world.transfer(1, 2, index), world.transfer(3, 4, index)])
      }
      const { since } = storage.transactions
      const at = (index: number, later = 0) => since(Natural.timestamp(world.commit(index).time + later))
      const found = yield* Effect.all([since(Natural.timestamp(0)), at(1), at(1, 1), at(3), at(4), at(5), at(5, 1)])
      expect(found).toEqual([1, 1, 3, 3, 5, 5, 7])
      yield* storage.transactions.prune(Natural.commitIndex(4), 100)
      // The last pruned vertex keeps its row: everything between it and the first remaining one is gone anyway.
      expect(yield* Effect.all([since(Natural.timestamp(0)), at(3), at(5), at(6)])).toEqual([3, 3, 5, 7])
    },
  )
})

describe("an account's history", () => {
  withStorage(
    "lists sent and received transactions, newest first, in pages that new ones do not shift",
    function* (storage) {
      const mine = Array.from({ length: 7 }, (_, n) =>
        n % 2 === 0 ? world.transfer(1, 2, n) : world.transfer(3, 1, n),
      )
      yield* commit(storage, 1, [...mine.slice(0, 4), world.transfer(2, 3, 0)])
      yield* commit(storage, 2, mine.slice(4))
      const newestFirst = mine.map(({ id }) => id).reverse()
      expect(yield* historyOf(storage, 1, 3)).toEqual([
        newestFirst.slice(0, 3),
        newestFirst.slice(3, 6),
        newestFirst.slice(6),
      ])
      const [, , third] = yield* storage.transactions.history({ address: world.address(1), before: null, limit: 3 })
      yield* commit(storage, 3, [world.transfer(1, 1, 99)])
      const next = yield* storage.transactions.history({
        address: world.address(1),
        before: third?.sequence ?? expect.fail(),
        limit: 3,
      })
      expect(next.map(({ transaction }) => transaction.id)).toEqual(newestFirst.slice(3, 6))
      expect(yield* historyOf(storage, 8, 3)).toEqual([])
    },
  )

  withStorage("holds a payment to oneself once", function* (storage) {
    const transaction = world.transfer(1, 1, 0)
    yield* commit(storage, 1, [transaction])
    expect(yield* historyOf(storage, 1, 5)).toEqual([[transaction.id]])
  })

  withStorage("ends where pruning ended, and its cursors are never reused", function* (storage) {
    const transactions = [world.transfer(1, 2, 0), world.transfer(1, 2, 1), world.transfer(1, 2, 2)]
    for (const [n, transaction] of transactions.entries()) yield* commit(storage, n + 1, [transaction])
    const [first, second, third] = transactions.map(({ id }) => id)
    expect(yield* storage.transactions.prune(Natural.commitIndex(3), 9)).toBe(2)
    expect(yield* historyOf(storage, 1, 5)).toEqual([[third]])
    expect(yield* historyOf(storage, 2, 5)).toEqual([[third]])
    for (const id of [first, second]) {
      expect(yield* storage.transactions.byId(id ?? expect.fail())).toEqual(Option.none())
    }
    expect(yield* storage.transactions.prune(Natural.commitIndex(9), 9)).toBe(1)
    const last = world.transfer(1, 2, 3)
    yield* commit(storage, 9, [last])
    expect(Option.getOrThrow(yield* storage.transactions.byId(last.id)).sequence).toBe(4)
  })

  withDirectory("is pruned little by little, pack by pack, and leaves no row behind", function* (path) {
    yield* world.within(path, function* (storage) {
      const many = Array.from({ length: 300 }, (_, n) => world.transfer(1 + (n % 5), 2, n))
      yield* commit(storage, 1, many)
      yield* commit(storage, 2, [world.transfer(1, 2, 900)])
      const turns: Array<number> = []
      for (;;) {
        const gone = yield* storage.transactions.prune(Natural.commitIndex(2), 50)
        turns.push(gone)
        if (gone === 0) break
      }
      expect(turns.reduce((sum, gone) => sum + gone)).toBe(many.length)
      // A pack is pruned as a whole, and holds about twenty of these transactions.
      expect(Math.max(...turns)).toBeLessThan(80)
      expect(turns.length).toBeGreaterThan(4)
      expect((yield* historyOf(storage, 1, 9)).flat()).toEqual([world.transfer(1, 2, 900).id])
    })
    const counts = ["transaction_packs", "transaction_vertices", "transaction_keys", "account_history"].map(
      (table) => `(select count(*) from ${table})`,
    )
    expect(yield* world.sqlite(`${path}/udg.db`, `select ${counts.join(", ")}`)).toEqual([[1, 1, 1, 2]])
  })

  withDirectory("returns its space to the disk when it is pruned and the file compacted", function* (path) {
    const size = Effect.sync(() => statSync(`${path}/udg.db`).size)
    const many = Array.from({ length: 4_000 }, (_, n) => world.transfer(1, 2, n))
    yield* world.inDirectory(path, (storage) => commit(storage, 1, many))
    const before = yield* size
    yield* world.within(path, function* (storage) {
      expect(yield* storage.transactions.prune(Natural.commitIndex(2), many.length)).toBe(many.length)
      yield* storage.vertices.prune({ beforeRound: Natural.round(9), beforeEpoch: Natural.epoch(9), limit: 9 })
      yield* storage.compact
    })
    expect(before).toBeGreaterThan(1_000_000)
    expect(yield* size).toBeLessThan(200_000)
  })
})
