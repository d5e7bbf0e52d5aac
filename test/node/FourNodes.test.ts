/** Whole nodes, each with its own files, over a network inside this process. */
import { it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Option } from "effect"
import { describe, expect } from "vitest"
import { Checkpoints } from "../../src/node/reads/Checkpoints.js"
import { Dag } from "../../src/node/reads/Dag.js"
import { Health } from "../../src/node/reads/Health.js"
import { Validator } from "../../src/node/reads/Validator.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Address from "../../src/protocol/identity/Address.js"
import { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as GenesisFile from "../../src/storage/files/GenesisFile.js"
import * as KeyFile from "../../src/storage/files/KeyFile.js"
import * as InMemory from "../network/InMemory.js"
import { sqlite } from "../storage/world.js"
import * as Rest from "../support/Rest.js"
import * as world from "./world.js"

const MEMBERS = 4

const committee = Effect.gen(function* () {
  const path = yield* world.temporaryDirectory
  const keys = Array.from({ length: MEMBERS }, () => SecretKey.generate())
  const genesis = Either.getOrThrow(
    Genesis.make({
      networkId: "udg-committee-test" as NetworkId,
      mode: "testnet",
      time: Natural.timestamp(1_700_000_000_000),
      allocations: [],
      validators: keys.map(({ publicKey }) => ({ publicKey, stake: Sats.MIN_STAKE_SATS, commissionPercent: 10 })),
      council: [],
      names: [],
      treasury: Sats.ZERO,
      faucet: null,
      parameters: { ...Parameters.solo, checkpointIntervalRounds: 10 },
      protocol: { ...Protocol.standard, roundIntervalMs: 20, epochRounds: 60, collectionDepthRounds: 30 },
    }),
  )
  const genesisFile = `${path}/genesis.json`
  yield* GenesisFile.write(genesisFile, genesis)
  const hub = yield* InMemory.hub
  const nodes = yield* Effect.forEach(keys, (key, n) =>
    Effect.gen(function* () {
      const validatorKey = `${path}/${n}.key`
      yield* KeyFile.create(validatorKey, key)
      const directory = `${path}/${n}`
      const settings = {
        genesisFile: Option.some(genesisFile),
        validatorKeyFile: Option.some(validatorKey),
        roundMs: Option.none(),
      }
      const start = () => world.node(directory, settings, hub.join(`node-${n}`, Address.fromPublicKey(key.publicKey)))
      return { directory, start }
    }),
  )
  return { hub, nodes }
})

const untilRound = (round: number) =>
  Effect.gen(function* () {
    const dag = yield* Dag
    while ((yield* dag.position).finalizedRound < round) yield* Effect.sleep("10 millis")
  })

const commits = (directory: string) =>
  sqlite(`${directory}/udg.db`, "select commit_index, hex(hash), hex(effects_digest) from commits order by 1 limit 70")

describe("four nodes", () => {
  it.scopedLive(
    Rest.of(
      "epochs of four nodes",
      "agree on every commit over an epoch's end, and one that was away goes on from its own disk",
    ),
    () =>
      Effect.gen(function* () {
        const { hub, nodes } = yield* committee
        const [first, ...others] = nodes
        if (first === undefined) return
        // The others wait until the first is there too: without them it could never catch up.
        const firstIsThere = yield* Deferred.make<void>()
        const running = yield* Effect.forEach(others, ({ start }) =>
          Effect.fork(Effect.provide(Effect.zipRight(untilRound(120), Deferred.await(firstIsThere)), start())),
        )
        // Alone it is no quorum: what it finalizes, the four finalize together.
        yield* Effect.gen(function* () {
          yield* untilRound(30)
          const standing = Option.getOrThrow(yield* (yield* Validator).standing)
          expect(standing).toMatchObject({ isInCommittee: true, hasForeignHeader: false })
          const report = yield* (yield* Health).report
          expect(report.network).toEqual({ status: "healthy", peers: 3 })
          const latest = Option.getOrThrow(yield* (yield* Checkpoints).latest)
          expect(latest.signatures.length).toBeGreaterThanOrEqual(3)
        }).pipe(Effect.provide(first.start()))
        yield* Effect.sleep("300 millis")
        yield* Effect.provide(untilRound(120), first.start())
        yield* Deferred.succeed(firstIsThere, undefined)
        yield* Effect.forEach(running, Fiber.join)
        const chains = yield* Effect.forEach(nodes, ({ directory }) => commits(directory))
        expect(chains[0]).toHaveLength(70)
        for (const chain of chains) expect(chain).toEqual(chains[0])
        expect(hub.misbehaviours).toEqual([])
      }).pipe(Effect.provide(world.platform)),
  )
})
