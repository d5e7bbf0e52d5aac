import { it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "effect/FastCheck"
import { describe, expect } from "vitest"
import { toHex } from "#crypto"
import type { Change } from "../../src/ledger/tables/Effects.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Storage } from "../../src/storage/Storage.js"
import * as Rest from "../support/Rest.js"
import { withStorage } from "./withStorage.js"
import * as world from "./world.js"

type Kept = Storage["Type"]

/** The content of a state: values by kind and key. */
type Content = ReadonlyMap<string, string>

const changedBy = (content: Content, changes: Iterable<Change>): Content => {
  const next = new Map(content)
  for (const { kind, key, value } of changes) {
    if (value === null) next.delete(`${kind} ${toHex(key)}`)
    else next.set(`${kind} ${toHex(key)}`, toHex(value))
  }
  return next
}

const back = (storage: Kept, content: Content, epoch: number) =>
  Effect.gen(function* () {
    const changes: Array<Change> = []
    yield* storage.closedStates.load(Natural.epoch(epoch), (page) => void changes.push(...page))
    return changedBy(content, changes)
  })

const account = (n: number, balance: number): Change =>
  balance === 0 ? { ...world.account(n, 1), value: null } : world.account(n, balance)

const record = (id: number, byte: number): Change => world.proposalRecord(id, byte === 0 ? null : Uint8Array.of(byte))

const few = fc.nat({ max: 5 })
const change = fc.oneof(
  fc.tuple(few, few).map(([n, balance]) => account(n, balance)),
  fc.tuple(few, few).map(([id, byte]) => record(id, byte)),
)
const unique = (changes: ReadonlyArray<Change>): ReadonlyArray<Change> => [
  ...new Map(changes.map((each) => [`${each.kind} ${toHex(each.key)}`, each])).values(),
]
interface Commit {
  readonly changes: ReadonlyArray<Change>
  readonly closes: boolean
}

const commit: fc.Arbitrary<Commit> = fc.record({
  changes: fc.array(change, { maxLength: 8 }).map(unique),
  closes: fc.boolean(),
})

describe("the states of the last closes", () => {
  const areHadAgain = ({ commits }: { readonly commits: ReadonlyArray<Commit> }) =>
    world
      .inMemory((storage) =>
        Effect.gen(function* () {
          const closes = new Map<number, Content>()
          let content: Content = new Map()
          let epoch = 1
          for (const [index, { changes, closes: isLast }] of commits.entries()) {
            yield* storage.append([
              { _tag: "Commit", batch: world.batch(index, { commit: world.commit(index, { epoch }), changes }) },
            ])
            content = changedBy(content, changes)
            if (isLast) closes.set(epoch++, content)
          }
          let state = content
          for (let closed = epoch - 1; closed >= 1; closed--) {
            state = yield* back(storage, state, closed)
            expect(state).toEqual(closes.get(closed))
          }
        }),
      )
      .pipe(Effect.provide(world.platform))

  const HAD = "are restored from the present one, whatever the commits changed"
  const commits = fc.array(commit)
  it.effect.prop(HAD, { commits }, areHadAgain, { fastCheck: { numRuns: 20 } })
  it.effect.prop(Rest.of("more commits", HAD), { commits }, areHadAgain)

  withStorage("are read over several pages, and dropped a few at a time, oldest first", function* (storage) {
    const numbers = Array.from({ length: 5_000 }, (_, n) => n)
    const all = [...numbers.map((n) => account(n, 1)), ...numbers.map((n) => record(n, 1))]
    const changed = [...numbers.map((n) => account(n, 2)), ...numbers.map((n) => record(n, 0))]
    const append = (index: number, epoch: number, changes: ReadonlyArray<Change>) =>
      storage.append([
        { _tag: "Commit", batch: world.batch(index, { commit: world.commit(index, { epoch }), changes }) },
      ])
    yield* append(0, 1, all)
    yield* append(1, 2, changed)
    yield* append(2, 3, all)
    const present = changedBy(new Map(), all)
    const second = yield* back(storage, present, 2)
    expect(second).toEqual(changedBy(present, changed))
    expect(yield* back(storage, second, 1)).toEqual(present)

    const before = Natural.epoch(2)
    const gone: Array<number> = []
    do gone.push(yield* storage.closedStates.prune(before, 4_000))
    while (gone.at(-1) === 4_000)
    expect(gone).toEqual([4_000, 4_000, 2_000])
    expect(yield* back(storage, second, 1)).toEqual(second)
    expect(yield* back(storage, present, 2)).toEqual(second)
  })
})
