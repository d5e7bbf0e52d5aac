import { it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Sampled from "../../src/cli/tracing/Sampled.js"
import * as Subtree from "../../src/ledger/trie/Subtree.js"
import * as Trie from "../../src/ledger/trie/Trie.js"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as LoadedState from "../../src/replica/disk/LoadedState.js"
import * as NodeSchema from "../../src/storage/schema/Node.js"
import * as Database from "../../src/storage/sqlite/Database.js"
import * as Epochs from "../../src/storage/tables/Epochs.js"
import { withDirectory } from "./withStorage.js"
import * as world from "./world.js"

const checkpoint = (round: number, epoch: number): Checkpoint.Checkpoint =>
  Checkpoint.make({
    epoch: Natural.epoch(epoch),
    round: Natural.round(round),
    commitIndex: Natural.commitIndex(round),
    commitHash: Hash.of("udg/commit", Uint8Array.of(round)),
    effectsDigest: Hash.ZERO,
    stateRoot: Hash.ZERO,
    totalSupply: Sats.make(1),
    nextEpoch: null,
    previous: Hash.ZERO,
  })

describe("epochs", () => {
  withDirectory("are kept as they were opened, the current one and the previous one", function* (path) {
    yield* world.within(path, function* ({ epochs }) {
      expect(yield* epochs.kept).toEqual([])
      for (const epoch of [1, 2, 3]) yield* epochs.begin(world.opening(epoch))
    })
    yield* world.within(path, function* ({ epochs }) {
      expect(yield* epochs.kept).toEqual([world.opening(3), world.opening(2)])
    })
  })

  it.effect("begin with a synced write, so a power cut takes nothing of the previous epoch", () =>
    Effect.gen(function* () {
      const database = yield* Database.openInMemory(NodeSchema.migrations)
      let synced = 0
      const watched: Database.Database = {
        ...database,
        write: () => Effect.dieMessage("not synced"),
        writeSynced: (statements) => Effect.tap(database.writeSynced(statements), () => void synced++),
      }
      yield* Epochs.make(watched).begin(world.opening(1))
      expect(synced).toBe(1)
    }).pipe(Effect.scoped),
  )

  withDirectory("have their checkpoints, built here and signed by a quorum", function* (path) {
    yield* world.within(path, function* ({ checkpoints }) {
      const [built, both, given] = [checkpoint(10, 1), checkpoint(20, 1), checkpoint(30, 1)]
      yield* checkpoints.putBuilt(built)
      yield* checkpoints.putBuilt(both)
      yield* checkpoints.put({ checkpoint: both, signatures: [], hasQuorum: true })
      yield* checkpoints.put({ checkpoint: given, signatures: [], hasQuorum: true })
      yield* checkpoints.putBuilt(checkpoint(40, 2))
      const kept = yield* checkpoints.ofEpoch(Natural.epoch(1))
      expect(kept.built).toEqual([built, both])
      expect(kept.signed.map((signed) => signed.checkpoint)).toEqual([both, given])
      expect(Option.getOrThrow(yield* checkpoints.at(Natural.round(20))).hasQuorum).toBe(true)
    })
  })

  withDirectory("are dropped with accounts, records and vertices when another state replaces them", function* (path) {
    yield* world.within(path, function* (storage) {
      yield* storage.begin(world.batch(0, { changes: [world.account(1, 5)] }), world.opening(1))
      yield* storage.append(world.inserted([world.vertex({ round: 3 }), world.vertex({ round: 7 })]))
      expect(yield* storage.vertices.oldestRound).toEqual(Option.some(3))
      yield* storage.append([
        {
          _tag: "Commit",
          batch: world.batch(1, { commit: world.commit(1, { epoch: 2 }), changes: [world.account(1, 4)] }),
        },
      ])
      const changes = [world.account(2, 6), world.account(3, 7)].map(LoadedState.placed)
      const pieces = [...Subtree.all(Trie.apply(Trie.empty, changes), Subtree.MAX_BYTES)].map(Subtree.encode)
      yield* storage.joins.begin({ checkpoint: checkpoint(80, 8), signatures: [] })
      for (const piece of pieces) yield* storage.joins.add(piece)
      const before = { checkpoint: checkpoint(71, 7), signatures: [] }
      const target = { checkpoint: checkpoint(81, 8), signatures: [] }
      const replaced = storage.replaceState({ target, proven: [before], opening: world.opening(9) })
      const spans: Array<string> = []
      const tracer = Sampled.tracer(
        () => true,
        ({ name }) => spans.push(name),
      )
      yield* Effect.withTracer(replaced, tracer)
      // The spans of a join that a trace collector receives.
      expect(spans).toEqual(["join"])
      for (const closing of [before, target]) {
        const stored = yield* storage.checkpoints.at(closing.checkpoint.round)
        expect(stored).toEqual(Option.some({ ...closing, hasQuorum: true }))
      }
      expect(yield* storage.epochs.kept).toEqual([world.opening(9)])
      expect(yield* storage.vertices.oldestRound).toEqual(Option.none())
      const balances: Array<number> = []
      yield* storage.accounts.load((page) => void balances.push(...page.map(({ balance }) => balance)))
      expect(balances.sort()).toEqual([6, 7])
      expect(yield* storage.joins.kept).toEqual(Option.none())
      const images: Array<unknown> = []
      yield* storage.closedStates.load(Natural.epoch(1), (page) => void images.push(...page))
      expect(images).toEqual([])
    })
  })
})
