import { it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Counter from "../../src/protocol/Counter.js"
import type { StoredAccount } from "../../src/storage/Accounts.js"
import * as world from "./world.js"

const first = world.vertex({ round: 1, transactions: [world.transfer(1, 2, 0), world.transfer(1, 3, 1)] })
const batch = world.batch(1, {
  changes: [world.account(1, 500, 2), world.account(2, 1), world.proposalRecord(1, Uint8Array.of(7))],
  vertices: [world.ordered(first)],
})

describe("storage", () => {
  it.scopedLive("still has a commit after it was closed and opened again", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      yield* world.inDirectory(path, (storage) =>
        Effect.gen(function* () {
          yield* storage.vertices.insert([first])
          yield* storage.appendCommit(batch)
        }),
      )
      yield* world.inDirectory(path, (storage) =>
        Effect.gen(function* () {
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
          expect(found.commitIndex).toBe(Counter.commitIndex(1))
          expect(found.bytes).toEqual(first.encoded)
        }),
      )
    }).pipe(Effect.provide(world.platform)),
  )
})
