import { it } from "@effect/vitest"
import { Effect, FastCheck as fc, Option } from "effect"
import { describe, expect } from "vitest"
import { toHex } from "#crypto"
import type { Change } from "../../src/ledger/tables/Effects.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as StateKey from "../../src/protocol/state/StateKey.js"
import type { StateRecord } from "../../src/protocol/state/StateRecord.js"
import type * as Storage from "../../src/storage/Storage.js"
import * as Accounts from "../../src/storage/tables/Accounts.js"
import * as arbitrary from "../protocol/arbitraries.js"
import * as Rest from "../support/Rest.js"
import * as world from "./world.js"

/** Few keys, so that batches change, remove and restore what earlier ones wrote. */
const keyOf = (kind: StateKey.Kind) =>
  fc.nat({ max: 5 }).map((n) => new Uint8Array(StateKey.KINDS[kind].keyBytes).fill(n))

const accountValue = fc
  .record({ balance: arbitrary.positiveSats, nonce: arbitrary.counter<Natural.Nonce>() })
  .map((fields) => AccountRecord.encode({ ...AccountRecord.noExtras, ...fields }))

const kinds: ReadonlyArray<StateKey.Kind> = ["Account", "Validator", "Proposal", "Ballot", "Head", "Slashed"]

const change: fc.Arbitrary<Change> = fc.constantFrom(...kinds).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    key: keyOf(kind),
    value: fc.option(kind === "Account" ? accountValue : fc.uint8Array({ maxLength: 300 }), { freq: 3 }),
  }),
)

const placeOf = ({ kind, key }: { readonly kind: StateKey.Kind; readonly key: Uint8Array }): string =>
  `${kind} ${toHex(key)}`

/** One change per record, like the changes of a ledger. */
const changes = fc.uniqueArray(change, { maxLength: 200, selector: placeOf })

const contentOf = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const content = new Map<string, string>()
    const keep = (record: StateRecord) => content.set(placeOf(record), toHex(record.value))
    yield* storage.accounts.load((page) => {
      for (const account of page) keep(Accounts.toRecord(account))
    })
    yield* storage.records.load((page) => {
      for (const record of page) keep(record)
    })
    return content
  })

const inOrder = (content: ReadonlyMap<string, string>) => [...content].sort(([a], [b]) => (a < b ? -1 : 1))

describe("after any batches", () => {
  const areTheSame = ([batches]: readonly [ReadonlyArray<ReadonlyArray<Change>>]) =>
    Effect.gen(function* () {
      const path = yield* world.temporaryDirectory
      const expected = new Map<string, string>()
      for (const [index, some] of batches.entries()) {
        for (const one of some) {
          if (one.value === null) expected.delete(placeOf(one))
          else expected.set(placeOf(one), toHex(one.value))
        }
        yield* world.inDirectory(path, (storage) =>
          storage.append([{ _tag: "Commit", batch: world.batch(index, { changes: some }) }]),
        )
      }
      const content = yield* world.inDirectory(path, contentOf)
      expect(inOrder(content)).toEqual(inOrder(expected))
      const last = yield* world.inDirectory(path, (storage) =>
        storage.commits.at(Natural.commitIndex(batches.length - 1)),
      )
      expect(last).toEqual(Option.some(world.commit(batches.length - 1)))
    }).pipe(Effect.scoped, Effect.provide(world.platform))

  const SAME = "leave the same records after reopening"
  const batches = fc.array(changes, { minLength: 1, maxLength: 6 })
  it.live.prop(SAME, [batches], areTheSame, { fastCheck: { numRuns: 2 } })
  it.live.prop(Rest.of("more of them", SAME), [batches], areTheSame, { fastCheck: { numRuns: 8 } })
})
