/** What a restarted node knows of the previous epoch. */
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import * as Home from "../../src/node/start/Home.js"
import * as Loading from "../../src/node/start/Loading.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import { Storage } from "../../src/storage/Storage.js"
import * as SteadyClock from "../../src/turns/SteadyClock.js"
import * as storage from "../storage/world.js"
import { withDirectory } from "./withDirectory.js"
import * as world from "./world.js"

const EPOCH_ROUNDS = 40
const protocol = { epochRounds: EPOCH_ROUNDS, collectionDepthRounds: 20, roundIntervalMs: 5 }
const DAY_MS = 86_400_000
const kept = { roundMs: Option.none() }

describe("a restarted node", () => {
  // It used to answer only for itself, so a member whose disk was set back could sign twice.
  withDirectory("knows what other members signed last in the previous epoch", function* (directory) {
    yield* world.found(directory, protocol)
    yield* world.untilRound(EPOCH_ROUNDS + 5).pipe(Effect.provide(world.node(directory, kept)))

    yield* Effect.gen(function* () {
      const { genesis } = yield* Home.Home
      const { append } = yield* Storage
      const madeBy = (round: number) => storage.vertex({ epoch: 1, round, author: storage.key(7).publicKey })
      const [earlier, last] = [madeBy(20), madeBy(30)]
      yield* append(storage.inserted([earlier, last]))
      const { contents } = yield* Loading.load(genesis, null, { low: 1, high: 2 })
      expect(contents.current.opening.record.epoch).toBe(2)
      expect(contents.previous?.vertices).toEqual([])
      const highest = contents.previous?.highestHeaders ?? []
      expect(highest).toContainEqual(last.header)
      expect(highest).toHaveLength(2)
    }).pipe(Effect.provide(world.files(directory, kept)))
  })

  withDirectory(
    "takes no waiting transaction to have arrived in the future, although an earlier run's clock was ahead",
    function* (directory) {
      yield* world.found(directory, protocol)
      yield* Effect.provide(Effect.void, world.node(directory, kept))

      yield* Effect.gen(function* () {
        const { genesis } = yield* Home.Home
        const { pending } = yield* Storage
        const from = yield* SteadyClock.current
        const cameIn = [-DAY_MS, -60_000, DAY_MS].map((ms, nonce) => {
          const transfer = storage.transfer(1, 2, nonce)
          const transaction = Transaction.make(genesis.networkId, transfer, transfer.authorization)
          return { transaction, receivedAt: Natural.timestamp(from + ms) }
        })
        yield* pending.update(cameIn, [])
        const { contents } = yield* Loading.load(genesis, null, { low: 1, high: 2 })
        const [longAgo, lately, ahead] = [...contents.pending].map(({ receivedAt }) => receivedAt)
        expect([longAgo, lately]).toEqual([from - DAY_MS, from - 60_000])
        expect(ahead).toBeGreaterThanOrEqual(from)
        expect(ahead).toBeLessThanOrEqual(yield* SteadyClock.current)
      }).pipe(Effect.provide(world.files(directory, kept)))
    },
  )
})
