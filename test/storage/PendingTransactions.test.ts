import { describe, expect } from "vitest"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { withDirectory, withStorage } from "./withStorage.js"
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
  withDirectory("survive a restart in order of arrival", function* (path) {
    const [late, early, dropped] = [pending(0, 30), pending(1, 10), pending(2, 20)]
    yield* world.within(path, function* (storage) {
      yield* storage.pending.update([late, early, dropped], [])
      yield* storage.pending.update([early], [dropped.transaction.id])
    })
    const left = yield* world.inDirectory(path, (storage) => storage.pending.all)
    expect(left).toEqual([early, late].map(stored))
  })

  withStorage("leave with the commit that settled them", function* (storage) {
    const [settled, waiting] = [pending(0, 1), pending(1, 2)]
    yield* storage.pending.update([settled, waiting], [])
    yield* storage.append([{ _tag: "Commit", batch: world.batch(1, { settled: [settled.transaction.id] }) }])
    expect(yield* storage.pending.all).toEqual([stored(waiting)])
  })
})
