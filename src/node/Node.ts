/** The whole node: its parts in the order of their start, its first log lines, and its end. */
import type { FileSystem } from "@effect/platform"
import { Console, Effect, Layer, Option } from "effect"
import { Network } from "../network/Network.js"
import * as Address from "../protocol/identity/Address.js"
import * as Engine from "./engine/Engine.js"
import type { Recording } from "./engine/Recording.js"
import * as Supervisor from "./lifecycle/Supervisor.js"
import * as Log from "./log/Log.js"
import * as Pruning from "./offline/Pruning.js"
import { RpcUrl } from "./RpcUrl.js"
import * as Checkpoints from "./reads/Checkpoints.js"
import * as Dag from "./reads/Dag.js"
import * as Events from "./reads/Events.js"
import * as Governance from "./reads/Governance.js"
import * as Health from "./reads/Health.js"
import * as KeyWatch from "./reads/KeyWatch.js"
import * as Mempool from "./reads/Mempool.js"
import * as Metrics from "./reads/Metrics.js"
import * as MetricsHistory from "./reads/MetricsHistory.js"
import * as Peers from "./reads/Peers.js"
import * as Pressure from "./reads/Pressure.js"
import * as Search from "./reads/Search.js"
import * as Staking from "./reads/Staking.js"
import * as State from "./reads/State.js"
import * as Validator from "./reads/Validator.js"
import * as Banner from "./start/Banner.js"
import { Configuration } from "./start/Configuration.js"
import * as DirectoryWatch from "./start/DirectoryWatch.js"
import * as Home from "./start/Home.js"
import * as Networking from "./start/Networking.js"

const log = Log.for("node")

const faces = Layer.mergeAll(
  Dag.layer,
  State.layer,
  Mempool.layer,
  Staking.layer,
  Governance.layer,
  Peers.layer,
  Checkpoints.layer,
  Events.layer,
  Pressure.layer,
  Validator.layer,
  MetricsHistory.layer,
  Search.layer,
  Pruning.layer,
)

/**
 * All services over an engine and a network, for a caller with a `Home`. They stop in the reverse order of their start.
 * The database is checked while the network loads and starts listening.
 */
export const servicesOver = <E, R>(engine: typeof Engine.layer, network: Layer.Layer<Network, E, R>) =>
  Health.layer.pipe(
    Layer.provideMerge(Metrics.layer),
    Layer.provideMerge(KeyWatch.layer),
    Layer.provideMerge(faces),
    Layer.provideMerge(Layer.merge(engine, DirectoryWatch.layer)),
    Layer.provideMerge(Layer.merge(Home.storageLayer, network)),
    Layer.provideMerge(Supervisor.layer),
  )

export const layerOver = <E, R>(engine: typeof Engine.layer, network: Layer.Layer<Network, E, R>) =>
  Layer.provideMerge(servicesOver(engine, network), Home.layer)

export const layer = layerOver(Engine.layer, Networking.layer)

const layerRecorded = <E>(recording: Layer.Layer<Recording, E, Home.Home>) =>
  servicesOver(Engine.layer, Networking.layer).pipe(Layer.provide(recording), Layer.provideMerge(Home.layer))

export type Services = Layer.Layer.Success<typeof layer>

const announce = Effect.gen(function* () {
  const { version, rateLimits } = yield* Configuration
  const { genesis, isFounded, location, faucetKey } = yield* Home.Home
  const standing = yield* (yield* Validator.Validator).standing
  const network = yield* Network
  const { url } = yield* RpcUrl
  const facts: Banner.Facts = {
    version,
    genesis,
    isFounded,
    dataDirectory: location._tag === "Directory" ? Option.some(location.directory.path) : Option.none(),
    validator: Option.map(standing, ({ address }) => address),
    faucetAddress: Option.map(faucetKey, ({ publicKey }) => Address.fromPublicKey(publicKey)),
    rpc: url,
    rateLimits,
    p2p: network.listensAt,
  }
  yield* Console.log(Banner.lines(facts).join("\n"))
})

export type Environment = Configuration | FileSystem.FileSystem

/** A task that runs beside the node until it ends. */
export type Beside = Effect.Effect<never, never, Services | RpcUrl | Environment>

/**
 * Runs until interrupted or ended. Then everything stops, outer parts first, so that nothing is accepted that would not
 * be stored.
 */
export const run = <E>(rpc: Layer.Layer<RpcUrl, E, Services | Environment>, beside: Beside = Effect.never) =>
  runOver(layer, rpc, beside)

/** `run` for a follower whose commits are also recorded elsewhere. */
export const runRecorded = <E, F>(
  recording: Layer.Layer<Recording, F, Home.Home>,
  rpc: Layer.Layer<RpcUrl, E, Services | Environment>,
  beside: Beside,
) => runOver(layerRecorded(recording), rpc, beside)

const runOver = <E, F>(
  node: Layer.Layer<Services, F, Environment>,
  rpc: Layer.Layer<RpcUrl, E, Services | Environment>,
  beside: Beside,
) =>
  Effect.gen(function* () {
    yield* announce
    const supervisor = yield* Supervisor.Supervisor
    yield* log.info("running")
    const { archive, ephemeral, peers } = yield* Configuration
    yield* log.debug("settings", { archive, ephemeral, peers: peers.length, url: (yield* RpcUrl).url })
    return yield* Effect.raceFirst(supervisor.ended, beside)
  }).pipe(
    Effect.onInterrupt(() => log.info("asked to stop")),
    Effect.provide(Layer.provideMerge(rpc, node)),
    Effect.onInterrupt(() => log.info("stopped")),
  )
