import { Effect } from "effect"
import { describe, expect } from "vitest"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import type { StateRecord } from "../../src/protocol/state/StateRecord.js"
import type * as Storage from "../../src/storage/Storage.js"
import { withStorage } from "./withStorage.js"
import * as world from "./world.js"

const loaded = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const records: Array<StateRecord> = []
    yield* storage.records.load((page) => records.push(...page))
    return records
  })

describe("the records", () => {
  withStorage("of every kind except accounts are returned by kind and key, also empty ones", function* (storage) {
    const kinds = [...Object.keys(StateKey.KINDS)]
      .map((name) => name as StateKey.Kind)
      .filter((kind) => kind !== "Account")
    const records = kinds.map((kind, n) => ({
      kind,
      key: new Uint8Array(StateKey.KINDS[kind].keyBytes).fill(n),
      value: new Uint8Array(n % 3).fill(n),
    }))
    yield* storage.append([{ _tag: "Commit", batch: world.batch(0, { changes: [...records].reverse() }) }])
    expect(yield* loaded(storage)).toEqual(records)
  })

  withStorage("change and disappear with the commits, over several pages", function* (storage) {
    const ids = Array.from({ length: 10_000 }, (_, n) => n)
    const made = ids.map((id) => world.proposalRecord(id, Uint8Array.of(1)))
    const changed = ids
      .filter((id) => id % 2 === 0)
      .map((id) => world.proposalRecord(id, id % 4 === 0 ? null : Uint8Array.of(2)))
    yield* storage.append([{ _tag: "Commit", batch: world.batch(0, { changes: made }) }])
    yield* storage.append([{ _tag: "Commit", batch: world.batch(1, { changes: changed }) }])
    const expected = ids
      .filter((id) => id % 4 !== 0)
      .map((id) => world.proposalRecord(id, Uint8Array.of(id % 2 === 0 ? 2 : 1)))
    expect(yield* loaded(storage)).toEqual(expected)
  })
})
