import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { BLOCK_COMMITS, type Draft } from "../../src/ledger/rules/PostingBlocks.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { Storage } from "../../src/storage/Storage.js"
import type { Cursor, Entry } from "../../src/storage/tables/Statements.js"
import { withStorage } from "./withStorage.js"
import * as world from "./world.js"

const one = world.address(1)

const posting = (kind: Draft["kind"], amount: number, proposal?: number): Draft => ({
  kind,
  address: one,
  amount: Sats.make(amount),
  proposalId: proposal === undefined ? null : Natural.proposalId(proposal),
})

const pages = (storage: Storage["Type"], limit: number) =>
  Effect.gen(function* () {
    const all: Array<Entry> = []
    let after: Cursor | null = { sequence: null, position: null }
    while (after !== null) {
      const page: { entries: ReadonlyArray<Entry>; next: Cursor | null } = yield* storage.statements.page({
        address: one,
        after,
        limit,
      })
      all.push(...page.entries)
      after = page.next
    }
    return all
  })

const shown = (entry: Entry) =>
  entry._tag === "Posting" ? `${entry.posting.kind} ${entry.posting.amount}` : entry.recorded.transaction.id

describe("an account's statement", () => {
  withStorage(
    "adds up a validator's earnings, and lists everything else in commit order on pages of any size",
    function* (storage) {
      const transaction = world.transfer(1, 2, 0)
      const vertex = world.vertex({ round: 1, transactions: [transaction] })
      yield* storage.append(world.inserted([vertex]))
      const postings = [
        [posting("genesis", 1_000)],
        [posting("reward", 5), posting("fees", 3)],
        [posting("reward", 6), posting("treasury_payment", 50, 4), posting("treasury_payment", 60, 5)],
      ]
      for (const [index, of] of postings.entries()) {
        const vertices = index === 1 ? [world.ordered(vertex)] : []
        yield* storage.append([{ _tag: "Commit", batch: world.batch(index, { vertices, postings: of }) }])
      }
      yield* storage.append([
        { _tag: "Commit", batch: world.batch(BLOCK_COMMITS, { postings: [posting("reward", 7)] }) },
      ])
      const expected = [
        "reward 7",
        "fees 3",
        "reward 11",
        "treasury_payment 60",
        "treasury_payment 50",
        transaction.id,
        "genesis 1000",
      ]
      for (const limit of [1, 2, 3, 100]) expect((yield* pages(storage, limit)).map(shown)).toEqual(expected)
    },
  )

  withStorage("has a separate entry for a large amount, to avoid an overflow of the sum", function* (storage) {
    const large = [posting("fees", Sats.MAX_SUPPLY), posting("fees", Sats.MAX_SUPPLY)]
    for (const index of [1, 2])
      yield* storage.append([{ _tag: "Commit", batch: world.batch(index, { postings: large }) }])
    expect((yield* pages(storage, 3)).map(shown)).toEqual(Array(4).fill(`fees ${Sats.MAX_SUPPLY}`))
  })

  withStorage("loses with old transactions the amounts they added", function* (storage) {
    for (const index of [1, 2, 3]) {
      yield* storage.append([
        { _tag: "Commit", batch: world.batch(index, { postings: [posting("bond_returned", index, index)] }) },
      ])
    }
    yield* storage.transactions.prune(Natural.commitIndex(3), 100)
    expect((yield* pages(storage, 9)).map(shown)).toEqual(["bond_returned 3"])
  })
})
