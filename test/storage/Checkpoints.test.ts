import { Effect, FastCheck as fc, Option } from "effect"
import { describe, expect } from "vitest"
import type { SignedCheckpoint } from "../../src/protocol/epoch/Checkpoint.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as arbitrary from "../protocol/arbitraries.js"
import { withStorage } from "./withStorage.js"
import * as world from "./world.js"

const closing = (epoch: number, round: number) =>
  world.checkpoint(round, {
    epoch: Natural.epoch(epoch),
    nextEpoch: fc.sample(arbitrary.epochRecord, { numRuns: 1, seed: epoch })[0] ?? expect.fail(),
  })

const signatures = fc.sample(arbitrary.signedCheckpoint, { numRuns: 20, seed: 1 }).flatMap((one) => one.signatures)
const distinct = [...new Map(signatures.map((one) => [one.validator, one])).values()]
const inOrder = (some: SignedCheckpoint["signatures"]) => [...some].sort((a, b) => (a.validator < b.validator ? -1 : 1))

describe("the checkpoints", () => {
  withStorage("collect signatures, and stay final once they are", function* (storage) {
    expect(distinct.length).toBeGreaterThan(3)
    const checkpoint = world.checkpoint(100)
    yield* storage.checkpoints.put({ checkpoint, signatures: distinct.slice(0, 2), hasQuorum: false })
    expect(yield* storage.checkpoints.latestWithQuorum).toEqual(Option.none())
    yield* storage.checkpoints.put({ checkpoint, signatures: distinct.slice(1), hasQuorum: true })
    yield* storage.checkpoints.put({ checkpoint, signatures: [], hasQuorum: false })
    const kept = Option.some({ checkpoint, signatures: inOrder(distinct), hasQuorum: true })
    expect(yield* storage.checkpoints.at(Natural.round(100))).toEqual(kept)
    expect(yield* storage.checkpoints.latestWithQuorum).toEqual(kept)
    expect(yield* storage.checkpoints.at(Natural.round(99))).toEqual(Option.none())
    expect(yield* storage.checkpoints.byHash(checkpoint.hash)).toEqual(kept)
    expect(yield* storage.checkpoints.byHash(world.checkpoint(99).hash)).toEqual(Option.none())
  })

  withStorage("are found as the latest final one, and as those that close epochs", function* (storage) {
    const interval = { checkpoint: world.checkpoint(100), signatures: [], hasQuorum: true }
    const first = { checkpoint: closing(1, 240), signatures: [], hasQuorum: true }
    const second = { checkpoint: closing(2, 480), signatures: [], hasQuorum: true }
    const newest = { checkpoint: world.checkpoint(500), signatures: [], hasQuorum: false }
    for (const one of [second, newest, interval, first]) yield* storage.checkpoints.put(one)
    expect(yield* storage.checkpoints.latestWithQuorum).toEqual(Option.some(second))
    expect(yield* storage.checkpoints.latestClosing).toEqual(Option.some(second))
    expect(yield* storage.checkpoints.closing(Natural.epoch(1), 9)).toEqual([first, second])
    expect(yield* storage.checkpoints.closing(Natural.epoch(1), 1)).toEqual([first])
    expect(yield* storage.checkpoints.closing(Natural.epoch(2), 9)).toEqual([second])
  })

  withStorage("are dropped with their signatures when old, unless they close an epoch", function* (storage) {
    const rounds = (found: ReadonlyArray<Option.Option<SignedCheckpoint>>) =>
      found.flatMap((one) => (Option.isSome(one) ? [one.value.checkpoint.round] : []))
    const all = [100, 200, 240, 300, 400, 480, 500]
    const kept = Effect.map(
      Effect.forEach(all, (round) => storage.checkpoints.at(Natural.round(round))),
      rounds,
    )
    const put = (checkpoint: SignedCheckpoint["checkpoint"]) =>
      storage.checkpoints.put({ checkpoint, signatures: distinct, hasQuorum: true })
    for (const round of [100, 200]) yield* put(world.checkpoint(round, { epoch: Natural.epoch(1) }))
    yield* put(closing(1, 240))
    for (const round of [300, 400]) yield* put(world.checkpoint(round, { epoch: Natural.epoch(2) }))
    yield* put(closing(2, 480))
    yield* put(world.checkpoint(500, { epoch: Natural.epoch(3) }))
    const prune = (beforeRound: number, beforeEpoch: number, limit = 9) =>
      storage.checkpoints.prune({
        beforeRound: Natural.round(beforeRound),
        beforeEpoch: Natural.epoch(beforeEpoch),
        limit,
      })
    expect(yield* prune(100, 9)).toBe(false)
    expect(yield* prune(1_000, 1)).toBe(false)
    expect(yield* kept).toEqual(all)
    expect(yield* prune(350, 9, 1)).toBe(true)
    expect(yield* kept).toEqual([200, 240, 300, 400, 480, 500])
    expect(yield* prune(350, 2)).toBe(true)
    expect(yield* kept).toEqual([240, 300, 400, 480, 500])
    // The last argument limits how many are examined, even if all of them stay.
    for (const left of [
      [240, 400, 480, 500],
      [240, 480, 500],
      [240, 480, 500],
    ]) {
      expect(yield* prune(1_000, 3, 1)).toBe(true)
      expect(yield* kept).toEqual(left)
    }
    expect(yield* prune(1_000, 3, 1)).toBe(false)
    // Pruning a round also removes its signatures: a checkpoint written there later has only its own.
    yield* storage.checkpoints.put({ checkpoint: world.checkpoint(100), signatures: [], hasQuorum: false })
    expect(Option.getOrThrow(yield* storage.checkpoints.at(Natural.round(100))).signatures).toEqual([])
  })

  withStorage("of other contents replace the previous one, without its signatures", function* (storage) {
    const one = world.checkpoint(100)
    const other = world.checkpoint(100, { commitIndex: Natural.commitIndex(7) })
    yield* storage.checkpoints.put({ checkpoint: one, signatures: distinct, hasQuorum: false })
    yield* storage.checkpoints.put({ checkpoint: other, signatures: [], hasQuorum: false })
    expect(yield* storage.checkpoints.at(Natural.round(100))).toEqual(
      Option.some({ checkpoint: other, signatures: [], hasQuorum: false }),
    )
  })
})
