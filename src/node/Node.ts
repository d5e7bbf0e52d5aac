/** The whole node: its parts in the order of their start, what it says first, and what it ends of. */
import type { FileSystem } from "@effect/platform"
import { Console, Effect, Layer, Option } from "effect"
import { Network } from "../network/Network.js"
import * as Address from "../protocol/Address.js"
import * as Banner from "./Banner.js"
import { Configuration } from "./Configuration.js"
import * as Engine from "./Engine.js"
import * as Home from "./Home.js"
import * as Log from "./Log.js"
import * as Supervisor from "./Supervisor.js"

const log = Log.for("node")

/** Everything below the services that answer questions. They stop in the reverse order of their start. */
const foundation = Engine.layer.pipe(
  Layer.provideMerge(Home.storageLayer),
  Layer.provideMerge(Layer.merge(Home.layer, Supervisor.layer)),
)

export const layer = foundation

const announce = Effect.gen(function* () {
  const { version } = yield* Configuration
  const { genesis, isFounded, location, validatorKey, faucetKey } = yield* Home.Home
  const network = yield* Network
  const facts: Banner.Facts = {
    version,
    genesis,
    isFounded,
    dataDirectory: location._tag === "Directory" ? Option.some(location.directory.path) : Option.none(),
    validator: Option.map(validatorKey, ({ publicKey }) => publicKey),
    faucetAddress: Option.map(faucetKey, ({ publicKey }) => Address.fromPublicKey(publicKey)),
    rpc: Option.none(),
    p2p: network.listensAt,
  }
  yield* Console.log(Banner.lines(facts).join("\n"))
})

/** Runs until it is interrupted or something ends it; everything is stopped and closed then. */
export const run = Effect.gen(function* () {
  yield* announce
  const supervisor = yield* Supervisor.Supervisor
  yield* log.info("running")
  return yield* supervisor.ended
}).pipe(
  Effect.onInterrupt(() => log.info("asked to stop")),
  Effect.provide(layer),
)

export type Environment = Configuration | Network | FileSystem.FileSystem
