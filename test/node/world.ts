/** A node for tests: its settings, its layers, a network that records messages, and signed transfers. */
import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Either, Layer, Logger, Option, Stream } from "effect"
import * as Network from "../../src/network/Network.js"
import { Volume } from "../../src/network/Volume.js"
import * as Engine from "../../src/node/engine/Engine.js"
import * as Node from "../../src/node/Node.js"
import { Dag } from "../../src/node/reads/Dag.js"
import { Mempool } from "../../src/node/reads/Mempool.js"
import { State } from "../../src/node/reads/State.js"
import * as Configuration from "../../src/node/start/Configuration.js"
import * as Home from "../../src/node/start/Home.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import type * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Address from "../../src/protocol/identity/Address.js"
import type * as Keys from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Parameters } from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import * as GenesisFile from "../../src/storage/files/GenesisFile.js"
import { Inbox } from "../../src/turns/Inbox.js"

export const settings = (changes: Partial<Configuration.Settings> = {}): Configuration.Settings => ({
  ...Configuration.embedded,
  version: "0.0.0",
  p2p: { host: Option.some("127.0.0.1"), port: 0 },
  dataDirectory: "/nowhere",
  ephemeral: false,
  archive: false,
  roundMs: Option.some(5),
  rateLimits: true,
  ...changes,
})

/** Has no peers, but a listener hears every vertex that goes out. */
export const overheard = (hear: (vertex: Vertex) => void): Layer.Layer<Network.Network> =>
  Layer.succeed(Network.Network, {
    listensAt: Option.none(),
    send: () => Effect.void,
    broadcast: (news) => Effect.sync(() => (news._tag === "Vertices" ? news.vertices.forEach(hear) : undefined)),
    inbound: new Inbox<Network.Received>(),
    peers: Effect.succeed([]),
    figures: () => ({ freePlaces: 128, failures: 0, volume: new Volume() }),
    changes: Stream.never,
    misbehaved: () => Effect.void,
    setMembers: () => Effect.void,
  })

export const platform = Layer.merge(NodeContext.layer, Logger.remove(Logger.defaultLogger))

/** All services of a node in this directory. */
export const node = (
  directory: string,
  changes: Partial<Configuration.Settings> = {},
  network: Layer.Layer<Network.Network> = Network.offline,
  engine: typeof Engine.layer = Engine.layer,
) =>
  Node.layerOver(engine, network).pipe(
    Layer.provideMerge(Layer.succeed(Configuration.Configuration, settings({ dataDirectory: directory, ...changes }))),
    Layer.provideMerge(platform),
  )

/** Home and storage of a directory, without a node. */
export const files = (directory: string, changes: Partial<Configuration.Settings> = {}) =>
  Home.storageLayer.pipe(
    Layer.provideMerge(Home.layer),
    Layer.provide(Layer.succeed(Configuration.Configuration, settings({ dataDirectory: directory, ...changes }))),
    Layer.provideMerge(platform),
  )

/** An engine that claims to be this many rounds ahead. */
export const ahead = (rounds: number) =>
  Layer.map(Engine.layer, (context) => context).pipe(
    Layer.flatMap((context) =>
      Layer.effect(
        Engine.Engine,
        Effect.map(Engine.Engine, (engine) => ({
          ...engine,
          pulse: () => {
            const { round, advancedAt } = engine.pulse()
            return { round: Natural.round(round + rounds), advancedAt }
          },
        })),
      ).pipe(Layer.provide(Layer.succeedContext(context))),
    ),
  )

/** A new network in this directory, with parameters other than a solo network's. */
export const found = (directory: string, protocol: Partial<Protocol.Protocol>, parameters: Partial<Parameters> = {}) =>
  Effect.gen(function* () {
    const { genesis, location } = yield* Home.Home
    if (location._tag === "Ephemeral") return yield* Effect.dieMessage("a directory expected")
    const changed = {
      ...genesis,
      protocol: { ...genesis.protocol, ...protocol },
      parameters: { ...genesis.parameters, ...parameters },
    }
    yield* GenesisFile.write(location.directory.fileOf("genesis"), Either.getOrThrow(Genesis.make(changed)))
  }).pipe(
    Effect.provide(Home.layer),
    Effect.provide(Layer.succeed(Configuration.Configuration, settings({ dataDirectory: directory }))),
    Effect.provide(platform),
  )

export const temporaryDirectory = Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
  fileSystem.makeTempDirectoryScoped({ prefix: "udg-node-" }),
)

const FEE = Sats.make(1_000)

/** A signed payment by the faucet's reserve. */
export const payment = (to: Address.Address, amount: number) =>
  Effect.gen(function* () {
    const { genesis, faucetKey } = yield* Home.Home
    const mempool = yield* Mempool
    const key: Keys.Signer = Option.getOrThrow(faucetKey)
    const from = Address.fromPublicKey(key.publicKey)
    const nonce = yield* mempool.nextNonce(from)
    const operation = { _tag: "Transfer", to, amount: Sats.make(amount), memo: "" } as const
    return Transaction.sign(genesis.networkId, { from, nonce, fee: FEE, operation }, key)
  })

export const untilRound = (round: number) =>
  Effect.gen(function* () {
    const dag = yield* Dag
    while ((yield* dag.position).finalizedRound < round) yield* Effect.sleep("5 millis")
  })

/** Waits until the transaction reads as finalized. */
export const finalized = (id: Transaction.Transaction["id"]) =>
  Effect.gen(function* () {
    const state = yield* State
    for (;;) {
      const known = yield* state.transaction(id)
      if (known._tag === "Finalized") return known
      yield* Effect.sleep("5 millis")
    }
  })
