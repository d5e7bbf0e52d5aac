import { it } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as world from "./world.js"

const pending = (nonce: number, receivedAt: number) => ({
  transaction: world.transfer(1, 2, nonce),
  receivedAt: Natural.timestamp(receivedAt),
})

const stored = ({ transaction, receivedAt }: ReturnType<typeof pending>) => ({
  id: transaction.id,
  receivedAt,
  bytes: transaction.encoded,
})

describe("the pending transactions", () => {
  it.scopedLive("survive a restart in order of arrival", () =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      const [late, early, dropped] = [pending(0, 30), pending(1, 10), pending(2, 20)]
      yield* world.inDirectory(path, (storage) =>
        Effect.gen(function* () {
          yield* storage.pending.update([late, early, dropped], [])
          yield* storage.pending.update([early], [dropped.transaction.id])
        }),
      )
      const left = yield* world.inDirectory(path, (storage) => storage.pending.all)
      expect(left).toEqual([early, late].map(stored))
    }).pipe(Effect.provide(world.platform)),
  )

  it.effect("leave with the commit that settled them", () =>
    world
      .inMemory((storage) =>
        Effect.gen(function* () {
          const [settled, waiting] = [pending(0, 1), pending(1, 2)]
          yield* storage.pending.update([settled, waiting], [])
          yield* storage.append([{ _tag: "Commit", batch: world.batch(1, { settled: [settled.transaction.id] }) }])
          expect(yield* storage.pending.all).toEqual([stored(waiting)])
        }),
      )
      .pipe(Effect.provide(world.platform)),
  )
})
