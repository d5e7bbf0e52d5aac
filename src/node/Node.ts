/** The whole node: its parts in the order of their start, what it says first, and what it ends of. */
import type { FileSystem } from "@effect/platform"
import { Console, Effect, Layer, Option } from "effect"
import { Network } from "../network/Network.js"
import * as Address from "../protocol/Address.js"
import * as Banner from "./Banner.js"
import * as Checkpoints from "./Checkpoints.js"
import { Configuration } from "./Configuration.js"
import * as Dag from "./Dag.js"
import * as Engine from "./Engine.js"
import { Front } from "./Front.js"
import * as Governance from "./Governance.js"
import * as Health from "./Health.js"
import * as Home from "./Home.js"
import * as Log from "./Log.js"
import * as Mempool from "./Mempool.js"
import * as Metrics from "./Metrics.js"
import * as Networking from "./Networking.js"
import * as Peers from "./Peers.js"
import * as Pruning from "./Pruning.js"
import * as Staking from "./Staking.js"
import * as State from "./State.js"
import * as Supervisor from "./Supervisor.js"
import * as Validator from "./Validator.js"

const log = Log.for("node")

const faces = Layer.mergeAll(
  Dag.layer,
  State.layer,
  Mempool.layer,
  Staking.layer,
  Governance.layer,
  Peers.layer,
  Checkpoints.layer,
  Validator.layer,
  Pruning.layer,
)

/**
 * All services over an engine and a network, for whoever has a home for them. They stop in the reverse order of their
 * start. The database is checked while the network is loaded and begins to listen.
 */
export const servicesOver = <E, R>(engine: typeof Engine.layer, network: Layer.Layer<Network, E, R>) =>
  Health.layer.pipe(
    Layer.provideMerge(Metrics.layer),
    Layer.provideMerge(faces),
    Layer.provideMerge(engine),
    Layer.provideMerge(Layer.merge(Home.storageLayer, network)),
    Layer.provideMerge(Supervisor.layer),
  )

/** The same at home where the settings say. */
export const layerOver = <E, R>(engine: typeof Engine.layer, network: Layer.Layer<Network, E, R>) =>
  Layer.provideMerge(servicesOver(engine, network), Home.layer)

export const layer = layerOver(Engine.layer, Networking.layer)

export type Services = Layer.Layer.Success<typeof layer>

const announce = Effect.gen(function* () {
  const { version } = yield* Configuration
  const { genesis, isFounded, location, validatorKey, faucetKey } = yield* Home.Home
  const network = yield* Network
  const { url } = yield* Front
  const facts: Banner.Facts = {
    version,
    genesis,
    isFounded,
    dataDirectory: location._tag === "Directory" ? Option.some(location.directory.path) : Option.none(),
    validator: Option.map(validatorKey, ({ publicKey }) => publicKey),
    faucetAddress: Option.map(faucetKey, ({ publicKey }) => Address.fromPublicKey(publicKey)),
    rpc: url,
    p2p: network.listensAt,
  }
  yield* Console.log(Banner.lines(facts).join("\n"))
})

export type Environment = Configuration | FileSystem.FileSystem

/**
 * Runs until it is interrupted or something ends it; everything is stopped and closed then, whoever asks first, so that
 * nothing is taken in that the parts below would not keep.
 */
export const run = <E>(front: Layer.Layer<Front, E, Services | Environment>) =>
  Effect.gen(function* () {
    yield* announce
    const supervisor = yield* Supervisor.Supervisor
    yield* log.info("running")
    return yield* supervisor.ended
  }).pipe(
    Effect.onInterrupt(() => log.info("asked to stop")),
    Effect.provide(Layer.provideMerge(front, layer)),
  )
