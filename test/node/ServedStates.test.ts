import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Position from "../../src/ledger/trie/Position.js"
import { Checkpoints } from "../../src/node/reads/Checkpoints.js"
import * as Home from "../../src/node/start/Home.js"
import * as Loading from "../../src/node/start/Loading.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { Storage } from "../../src/storage/Storage.js"
import { withDirectory } from "./withDirectory.js"
import * as world from "./world.js"

const EPOCH_ROUNDS = 40
const protocol = { epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 20, roundIntervalMs: 5 }
const kept = { roundMs: Option.none() }
const wholeState = Binary.encode((writer) => Position.write(writer, Position.ROOT))
const somebody = "00000000000000000000000000000000000000aa" as Address

describe("the states of the last two closes", () => {
  withDirectory("are served after a restart, and prove accounts against the last one", function* (directory) {
    yield* world.found(directory, protocol)
    yield* world.untilRound(3 * EPOCH_ROUNDS + 20).pipe(Effect.provide(world.node(directory, kept)))

    yield* Effect.gen(function* () {
      const { genesis } = yield* Home.Home
      const { checkpoints } = yield* Storage
      const { opened } = yield* Loading.load(genesis, null, { low: 1, high: 2 })
      const closings = yield* checkpoints.closing(Natural.epoch(1), 1_000)
      expect(closings.length).toBeGreaterThanOrEqual(3)
      const running = opened.ledger.read.epoch.epoch
      for (const { checkpoint } of closings) {
        const served = opened.views.subtree(checkpoint.stateRoot, wholeState)
        expect({ epoch: checkpoint.epoch, isServed: served !== null }).toEqual({
          epoch: checkpoint.epoch,
          isServed: checkpoint.epoch >= running - Loading.KEPT_CLOSES,
        })
      }
    }).pipe(Effect.provide(world.files(directory, kept)))

    yield* Effect.gen(function* () {
      const checkpoints = yield* Checkpoints
      expect(Option.isSome(yield* checkpoints.prove(somebody))).toBe(true)
    }).pipe(Effect.provide(world.node(directory, kept)))
  })
})
