import { copyFileSync, readFileSync } from "node:fs"
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { StoredAccount } from "../../src/storage/tables/Accounts.js"
import { withDirectory, withPlatform } from "./withStorage.js"
import * as world from "./world.js"

const first = world.vertex({ round: 1, transactions: [world.transfer(1, 2, 0), world.transfer(1, 3, 1)] })
const batch = world.batch(1, {
  changes: [world.account(1, 500, 2), world.account(2, 1), world.proposalRecord(1, Uint8Array.of(7))],
  vertices: [world.ordered(first)],
})

describe("storage", () => {
  withDirectory("keeps a commit after it was closed and reopened", function* (path) {
    yield* world.within(path, function* (storage) {
      yield* storage.append(world.inserted([first]))
      yield* storage.append([{ _tag: "Commit", batch: batch }])
    })
    yield* world.within(path, function* (storage) {
      const accounts: Array<StoredAccount> = []
      yield* storage.accounts.load((page) => accounts.push(...page))
      expect(accounts.map(({ address, balance, nonce }) => [address, balance, nonce]).sort()).toEqual(
        [
          [world.address(1), 500, 2],
          [world.address(2), 1, 0],
        ].sort(),
      )
      expect(yield* storage.commits.last).toEqual(Option.some(batch.commit))
      const found = Option.getOrThrow(yield* storage.vertices.byHash(first.header.hash))
      expect(found.commitIndex).toBe(Natural.commitIndex(1))
      expect(found.bytes).toEqual(first.encoded)
    })
  })

  // A peer that has the vertex may ask for its parents. After a power cut on all machines no other node may have them.
  withDirectory("has an own vertex in signed.db after a synced transaction of udg.db", function* (path) {
    /** The page of the newest frame in the log. Only the syncing transaction writes page 1. */
    const newestPage = () => {
      const log = readFileSync(`${path}/udg.db-wal`)
      return log.readUInt32BE(log.length - log.readUInt32BE(8) - 24)
    }
    yield* world.within(path, function* (storage) {
      for (const round of [1, 2]) {
        yield* storage.append(world.inserted([world.vertex({ round, author: world.key(3).publicKey })]))
        expect(newestPage()).not.toBe(1)
        yield* storage.keepOwn(world.vertex({ round }), null)
        expect(newestPage()).toBe(1)
      }
    })
  })

  // A node killed at that moment of its first start could not start again.
  withPlatform("is created although an earlier attempt was interrupted in its first write", function* () {
    for (const file of ["udg.db", "signed.db"]) {
      const path = yield* world.temporaryDirectory
      const halfway = `${path}/halfway.db`
      yield* world.withSqlite(halfway, (sql) =>
        Effect.gen(function* () {
          // Forces writes to the file before the commit.
          yield* sql`pragma cache_size = 1`.values
          yield* sql`begin immediate`.values
          yield* sql`create table meta (name text)`.values
          yield* sql`insert into meta values (${"x".repeat(100_000)})`.values
          copyFileSync(halfway, `${path}/${file}`)
          copyFileSync(`${halfway}-journal`, `${path}/${file}-journal`)
        }),
      )
      yield* world.inDirectory(path, (storage) => storage.append([{ _tag: "Commit", batch: world.batch(1, {}) }]))
      const last = yield* world.inDirectory(path, (storage) => storage.commits.last)
      expect(last).toEqual(Option.some(world.commit(1)))
    }
  })
})
