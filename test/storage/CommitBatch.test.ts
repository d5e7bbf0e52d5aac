import { Effect, Either, Option } from "effect"
import { describe, expect } from "vitest"
import { Ledger } from "../../src/ledger/Ledger.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { StateRecord } from "../../src/protocol/state/StateRecord.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import type * as Storage from "../../src/storage/Storage.js"
import * as Accounts from "../../src/storage/tables/Accounts.js"
import * as CommitBatch from "../../src/storage/tables/CommitBatch.js"
import { fromRecords } from "../support/Restored.js"
import { withDirectory } from "./withStorage.js"
import * as world from "./world.js"

const tableKey = { low: 3, high: 4 }

const [rich, poor] = [world.key(1), world.key(2)]
const [richAddress, poorAddress] = [rich, poor].map(({ publicKey }) => Address.fromPublicKey(publicKey)) as [
  Address.Address,
  Address.Address,
]

const genesis = Either.getOrThrow(
  Genesis.make({
    ...world.genesis(),
    allocations: [
      { address: richAddress, amount: Sats.make(1_000_000) },
      { address: poorAddress, amount: Sats.make(2_000) },
    ],
  }),
)

const transfer = (from: typeof rich, to: Address.Address, nonce: number, amount: number) =>
  Transaction.sign(
    world.networkId,
    {
      from: Address.fromPublicKey(from.publicKey),
      nonce: Natural.nonce(nonce),
      fee: Sats.make(1_000),
      operation: { _tag: "Transfer", to, amount: Sats.make(amount), memo: "" },
    },
    from,
  )

const applied = transfer(rich, poorAddress, 0, 5)
const failing = transfer(poor, richAddress, 0, 100_000)
const withoutEffect = transfer(rich, poorAddress, 7, 5)
const vertex = world.vertex({ round: 1, transactions: [withoutEffect, applied, failing] })

const commit = Commit.make({
  index: Natural.commitIndex(1),
  epoch: Natural.epoch(1),
  leaderRound: Natural.round(1),
  leaderHash: vertex.header.hash,
  previous: Genesis.hash(genesis),
})

const restored = (storage: Storage.Storage["Type"]) =>
  Effect.gen(function* () {
    const records: Array<StateRecord> = []
    yield* storage.accounts.load((page) => records.push(...page.map(Accounts.toRecord)))
    yield* storage.records.load((page) => records.push(...page))
    const { effectsDigest } = Option.getOrThrow(yield* storage.commits.last)
    return Either.getOrThrow(fromRecords(genesis.protocol, tableKey, records, effectsDigest))
  })

const contentOf = (ledger: Ledger) =>
  [...ledger.records()]
    .map(({ kind, key, value }) =>
      [kind, Buffer.from(key).toString("hex"), Buffer.from(value).toString("hex")].join(" "),
    )
    .sort()

describe("a ledger's output", () => {
  withDirectory("is written so that the ledger continues after a restart and every outcome is found", function* (path) {
    const ledger = Ledger.fromGenesis(genesis, tableKey)
    const beginning = {
      commit: {
        ...commit,
        index: Natural.commitIndex(0),
        epoch: Natural.epoch(0),
        leaderRound: Natural.round(0),
        hash: Genesis.hash(genesis),
        previous: Hash.ZERO,
        time: genesis.time,
        effectsDigest: ledger.effectsDigest,
      },
      changes: ledger.records(),
      vertices: [],
      postings: [],
      settled: [],
    }
    yield* world.inDirectory(path, (storage) => storage.append([{ _tag: "Commit", batch: beginning }]), genesis)

    const time = Natural.timestamp(genesis.time + 500)
    const execution = Either.getOrThrow(ledger.execute({ commit, time, vertices: [vertex] }))
    yield* world.inDirectory(
      path,
      (storage) =>
        Effect.gen(function* () {
          expect(contentOf(yield* restored(storage))).toEqual(contentOf(Ledger.fromGenesis(genesis, tableKey)))
          yield* storage.append(world.inserted([vertex]))
          yield* storage.append([{ _tag: "Commit", batch: CommitBatch.fromExecution(execution, [vertex], []) }])
        }),
      genesis,
    )

    yield* world.inDirectory(
      path,
      (storage) =>
        Effect.gen(function* () {
          const again = yield* restored(storage)
          expect(contentOf(again)).toEqual(contentOf(ledger))
          expect(again.effectsDigest).toBe(ledger.effectsDigest)
          expect(yield* storage.commits.last).toEqual(
            Option.some({ ...commit, time, effectsDigest: execution.effectsDigest }),
          )
          const found = yield* Effect.forEach([applied, failing, withoutEffect], ({ id }) =>
            storage.transactions.byId(id),
          )
          expect(found.map(Option.map(({ outcome }) => outcome))).toEqual([
            Option.some({ failure: null, proposalId: null, charged: null }),
            Option.some({
              failure: {
                code: "InsufficientBalance",
                reason: expect.stringMatching(/^[\d.]+ UDG \(\d+ sats\) needed, [\d.]+ UDG \(\d+ sats\) available$/),
              },
              proposalId: null,
              charged: null,
            }),
            Option.none(),
          ])
          // The first transaction was not recorded, and keeps position 0.
          expect(yield* storage.transactions.ofVertex(commit.index, vertex.header.hash)).toEqual([
            { position: 1, isApplied: true },
            { position: 2, isApplied: false },
          ])
          const history = yield* storage.transactions.history({ address: poorAddress, before: null, limit: 9 })
          expect(history.map(({ transaction }) => transaction.id)).toEqual([failing.id, applied.id])
        }),
      genesis,
    )
  })
})
