// Start and memory of a large node with a million accounts and more than ten thousand vertices in the running epoch.
// Creating the files is not measured; the start, the memory and the longest pause around a checkpoint are.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import { Effect, Layer, Option, Stream } from "effect"
import { Ledger } from "../src/ledger/Ledger.js"
import { Engine } from "../src/node/engine/Engine.js"
import { Dag } from "../src/node/reads/Dag.js"
import { Mempool } from "../src/node/reads/Mempool.js"
import { Configuration } from "../src/node/start/Configuration.js"
import { Home, layer as homeLayer, storageLayer } from "../src/node/start/Home.js"
import * as Genesis from "../src/protocol/epoch/Genesis.js"
import type { Address } from "../src/protocol/identity/Address.js"
import * as Hash from "../src/protocol/identity/Hash.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as GenesisState from "../src/replica/disk/GenesisState.js"
import * as GenesisFile from "../src/storage/files/GenesisFile.js"
import { Storage } from "../src/storage/Storage.js"
import * as world from "../test/node/world.js"
import type { Figure, Suite } from "./Harness.js"

/** Ten million need `NODE_OPTIONS=--max-old-space-size=14000` to be created, and part of it to be loaded. */
const ACCOUNTS = Number(process.env["UDG_START_ACCOUNTS"] ?? 1_000_000)
/** One per round. */
const VERTICES = 12_500
/** Beyond the vertices, so that all are of the running epoch and the next checkpoint is seconds away. */
const EPOCH_ROUNDS = 20_000
const CHECKPOINT_ROUNDS = 5_000
const TOUCHED = 10_000

const addressOf = (n: number): Address =>
  Hash.of("udg/address", new TextEncoder().encode(String(n))).slice(0, 40) as Address

const settingsLayer = (directory: string) =>
  Layer.succeed(Configuration, world.settings({ dataDirectory: directory, roundMs: Option.none() }))

/** The network's genesis file, and accounts that came later. */
const fill = (directory: string) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const { genesis } = yield* Home
    const others = Array.from({ length: ACCOUNTS }, (_, n) => ({ address: addressOf(n), amount: Sats.make(1_000_000) }))
    // Never decoded, so it can have more allocations than a genesis file.
    const large: Genesis.Genesis = { ...genesis, allocations: [...genesis.allocations, ...others] }
    const ledger = Ledger.fromGenesis(large, { low: 1, high: 2 })
    const opening = GenesisState.firstOpening(large, ledger)
    const commit = {
      index: Natural.commitIndex(0),
      epoch: Natural.epoch(0),
      leaderRound: Natural.round(0),
      leaderHash: Hash.ZERO,
      previous: Hash.ZERO,
      hash: Genesis.hash(large),
      time: large.time,
      effectsDigest: ledger.effectsDigest,
    }
    yield* storage.begin({ commit, changes: ledger.records(), vertices: [], postings: [], settled: [] }, opening)
  }).pipe(Effect.provide(storageLayer.pipe(Layer.provideMerge(homeLayer), Layer.provide(settingsLayer(directory)))))

/** A network with a long enough epoch and its own keys. */
const found = (directory: string) =>
  Effect.gen(function* () {
    const { genesis, location } = yield* Home
    if (location._tag !== "Directory") return
    const long = {
      ...genesis,
      protocol: { ...genesis.protocol, epochRounds: EPOCH_ROUNDS, roundIntervalMs: 1 },
      parameters: {
        ...genesis.parameters,
        cooldownRounds: EPOCH_ROUNDS,
        checkpointIntervalRounds: CHECKPOINT_ROUNDS,
      },
    }
    yield* GenesisFile.write(location.directory.fileOf("genesis"), long)
  }).pipe(Effect.provide(homeLayer.pipe(Layer.provide(settingsLayer(directory)))))

const node = (directory: string) => world.node(directory, { roundMs: Option.none() })

const untilRound = (round: number) =>
  Effect.gen(function* () {
    const dag = yield* Dag
    while ((yield* dag.position).finalizedRound < round) yield* Effect.sleep("20 millis")
  })

const MIB = 1_048_576

/** Runs in a separate process: loads, idles, then builds a checkpoint over many changed accounts. */
const measureStart = (directory: string) =>
  Effect.gen(function* () {
    const started = performance.now()
    yield* Effect.gen(function* () {
      const startMs = performance.now() - started
      const engine = yield* Engine
      const mempool = yield* Mempool
      globalThis.gc?.()
      yield* Effect.sleep("1 seconds")
      const restBytes = process.memoryUsage().rss
      const checkpoint = yield* Effect.fork(
        Stream.runHead(Stream.filter(engine.events, ({ _tag }) => _tag === "CheckpointBuilt")),
      )
      for (let n = 0; n < TOUCHED; n++) {
        yield* Effect.either(mempool.submit(yield* world.payment(addressOf(n), 1)))
        // A sender can have 64 pending.
        while ((yield* mempool.size) >= 64) yield* Effect.sleep("1 millis")
      }
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      yield* checkpoint
      yield* Effect.sleep("500 millis")
      delay.disable()
      const figures = {
        startMs,
        restBytes,
        pauseMs: delay.max / 1e6,
        productionMs: engine.counters.counts.checkpointProductionMs,
      }
      process.stdout.write(`${JSON.stringify(figures)}\n`)
    }).pipe(Effect.provide(node(directory)))
  })

const [, , word, directory] = process.argv
if (word === "--measure-start" && directory !== undefined) {
  await Effect.runPromise(Effect.scoped(measureStart(directory)))
  process.exit(0)
}

interface Measured {
  readonly startMs: number
  readonly restBytes: number
  readonly pauseMs: number
  readonly productionMs: number
}

const inOwnProcess = (path: string) =>
  Effect.promise(async (): Promise<Measured> => {
    const words = ["--conditions=udg-source", "--expose-gc", "--import", "tsx", fileURLToPath(import.meta.url)]
    const child = spawn(process.execPath, [...words, "--measure-start", path], { stdio: ["ignore", "pipe", "inherit"] })
    let said = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text
    })
    await once(child, "close")
    return JSON.parse(said)
  })

const figures = Effect.gen(function* () {
  const path = yield* world.temporaryDirectory
  yield* found(path)
  yield* fill(path)
  yield* Effect.provide(untilRound(VERTICES), node(path))
  const { startMs, restBytes, pauseMs, productionMs } = yield* inOwnProcess(path)
  const result: ReadonlyArray<Figure> = [
    { name: "start", value: startMs, unit: "ms" },
    { name: "memory at rest", value: restBytes / MIB, unit: "MiB" },
    { name: "checkpoint", value: productionMs, unit: "ms" },
    { name: "longest pause around it", value: pauseMs, unit: "ms" },
  ]
  return result
}).pipe(Effect.provide(world.platform), Effect.scoped)

export const suite: Suite = {
  about: `a node with ${ACCOUNTS} accounts and ${VERTICES} stored vertices: its start, its idle load and a checkpoint`,
  figures: () => Effect.runPromise(figures),
}
