/** A database that an earlier version wrote still works: old data is found, and new data is added. */
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type * as Storage from "../../src/storage/Storage.js"
import { EACH, first, second, third, transactionsOf, withFourthVersion } from "./FourthVersion.js"
import * as world from "./world.js"

const commitThird = (storage: Storage.Storage["Type"]) =>
  Effect.zipRight(
    storage.append(world.inserted([third])),
    storage.append([{ _tag: "Commit", batch: world.batch(3, { vertices: [world.ordered(third)] }) }]),
  )

const historyOf = (storage: Storage.Storage["Type"], before: number | null, limit: number) =>
  Effect.map(storage.transactions.history({ address: world.address(2), before, limit }), (found) =>
    found.map(({ sequence, transaction }) => [sequence, transaction.id]),
  )

describe("a database of the fourth version of the schema", () => {
  withFourthVersion("keeps its transactions, their outcomes and its vertices under this one", function* (path) {
    yield* world.within(path, function* (storage) {
      for (const [n, transaction] of transactionsOf(first, second).entries()) {
        expect(Option.getOrThrow(yield* storage.transactions.byId(transaction.id))).toMatchObject({
          sequence: n + 1,
          transaction,
          outcome: {
            failure: n % EACH === 0 ? { code: "NonceTooLow", reason: "5 expected" } : null,
            proposalId: null,
          },
          commitIndex: n < EACH ? 1 : 2,
          vertex: { hash: (n < EACH ? first : second).header.hash },
        })
      }
      for (const [i, vertex] of [first, second].entries()) {
        const places = yield* storage.transactions.ofVertex(Natural.commitIndex(i + 1), vertex.header.hash)
        expect(places).toEqual([0, 1, 2].map((position) => ({ position, isApplied: position > 0 })))
        const found = yield* storage.vertices.byHash(vertex.header.hash)
        expect(Option.map(found, ({ bytes }) => bytes)).toEqual(Option.some(vertex.encoded))
      }
    })
  })

  withFourthVersion("continues with the next number, and its pages of history have both", function* (path) {
    yield* world.inDirectory(path, commitThird)
    yield* world.within(path, function* (storage) {
      const all = transactionsOf(first, second, third).map(({ id }, n) => [n + 1, id])
      const newestFirst = [...all].reverse()
      expect(yield* historyOf(storage, null, 20)).toEqual(newestFirst)
      expect(yield* historyOf(storage, null, 5)).toEqual(newestFirst.slice(0, 5))
      expect(yield* historyOf(storage, 8, 4)).toEqual(newestFirst.slice(2, 6))
      expect(yield* historyOf(storage, 5, 9)).toEqual(newestFirst.slice(5))
    })
  })

  withFourthVersion("finds old and new transactions and vertices by the beginnings of their hashes", function* (path) {
    yield* world.within(path, function* (storage) {
      yield* commitThird(storage)
      const all = transactionsOf(first, second, third).map(({ id }) => id)
      for (const id of all) {
        for (const digits of [8, 12, 13, 63, 64]) {
          expect(yield* storage.transactions.beginningWith(id.slice(0, digits), 5), id).toEqual([id])
        }
      }
      const some = yield* storage.transactions.beginningWith("", 5)
      expect(some.length).toBe(5)
      expect(all).toEqual(expect.arrayContaining([...some]))
      const { hash } = third.header
      expect(yield* storage.vertices.beginningWith(hash.slice(0, 9), 5)).toEqual([hash])
      expect(yield* storage.vertices.beginningWith(`${hash.slice(0, 63)}${hash.endsWith("0") ? 1 : 0}`, 5)).toEqual([])
    })
  })

  withFourthVersion("drops its old transactions when it is pruned", function* (path) {
    yield* world.within(path, function* (storage) {
      yield* commitThird(storage)
      expect(yield* storage.transactions.prune(Natural.commitIndex(2), 1_000)).toBe(EACH)
      expect(yield* historyOf(storage, null, 20)).toHaveLength(2 * EACH)
      expect(yield* storage.transactions.prune(Natural.commitIndex(3), 1_000)).toBe(EACH)
      expect(yield* historyOf(storage, null, 20)).toHaveLength(EACH)
      expect(yield* storage.transactions.prune(Natural.commitIndex(4), 1_000)).toBe(EACH)
      for (const { id } of transactionsOf(first, second, third)) {
        expect(yield* storage.transactions.byId(id)).toEqual(Option.none())
      }
    })
    for (const table of ["earlier_transactions", "transaction_packs", "transaction_keys", "account_history"]) {
      expect(yield* world.sqlite(`${path}/udg.db`, `select count(*) from ${table}`)).toEqual([[0]])
    }
  })

  withFourthVersion("reuses no number of a pruned transaction", function* (path) {
    yield* world.inDirectory(path, (storage) => storage.transactions.prune(Natural.commitIndex(3), 1_000))
    yield* world.inDirectory(path, commitThird)
    const sequences = yield* world.inDirectory(path, (storage) => historyOf(storage, null, 20))
    expect(sequences.map(([sequence]) => sequence)).toEqual([9, 8, 7])
  })
})
