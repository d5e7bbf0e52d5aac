/** The HTTP interface over a node: every group's handlers over its services, and the server in front of them. */
import { Effect, Layer } from "effect"
import { Engine } from "../node/engine/Engine.js"
import { RpcUrl } from "../node/RpcUrl.js"
import { Configuration } from "../node/start/Configuration.js"
import { Home } from "../node/start/Home.js"
import * as Network from "../protocol/identity/Network.js"
import * as SteadyClock from "../turns/SteadyClock.js"
import * as Checkpoints from "./handlers/Checkpoints.js"
import * as Core from "./handlers/Core.js"
import * as Dag from "./handlers/Dag.js"
import * as Delegation from "./handlers/Delegation.js"
import * as Documents from "./handlers/Documents.js"
import * as Events from "./handlers/Events.js"
import * as Governance from "./handlers/Governance.js"
import * as Monitoring from "./handlers/Monitoring.js"
import * as Staking from "./handlers/Staking.js"
import * as Transactions from "./handlers/Transactions.js"
import * as Prometheus from "./metrics/Prometheus.js"
import { Handlers } from "./server/Handlers.js"
import * as Server from "./server/Server.js"
import * as Site from "./server/Site.js"

const handlers = Layer.scoped(
  Handlers,
  Effect.gen(function* () {
    const { version } = yield* Configuration
    return {
      core: yield* Core.handlers,
      transactions: yield* Transactions.handlers,
      staking: yield* Staking.handlers,
      delegation: yield* Delegation.handlers,
      governance: yield* Governance.handlers,
      dag: yield* Dag.handlers,
      checkpoints: yield* Checkpoints.handlers,
      monitoring: yield* Monitoring.handlers,
      events: yield* Events.handlers,
      documents: Documents.handlers(version),
    }
  }),
)

/** A round counts as late from half an interval on, and from no less than this. */
const LEAST_LATENESS_MS = 50
/**
 * A round later than this many intervals is late for a reason other than requests, unless there is work to
 * do here: no round comes before the checkpoint that closes an epoch.
 */
const OVERDUE_INTERVALS = 10

const server = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { rpc, rpcNames: names, rateLimits, trustedProxies, clientIpHeader } = yield* Configuration
    const { genesis } = yield* Home
    const { observe: onAnswer, countDefect: onDefect } = yield* Prometheus.Prometheus
    const isMainnet = genesis.mode === "mainnet"
    const isSolo = Network.isSolo(genesis.networkId)
    const pages = yield* Site.built
    const { pulse, view } = yield* Engine
    const clock = yield* Effect.clock
    const { roundIntervalMs } = genesis.protocol
    const lateMs = roundIntervalMs + Math.max(LEAST_LATENESS_MS, roundIntervalMs / 2)
    const overdueMs = Math.max(2 * lateMs, OVERDUE_INTERVALS * roundIntervalMs)
    const isPressed = () => {
      const sinceMs = SteadyClock.unsafeCurrent(clock) - pulse().advancedAt
      return sinceMs > lateMs && (sinceMs < overdueMs || view.hasWork)
    }
    const access = { names, rateLimits, trustedProxies, clientIpHeader }
    return Server.layer({ ...rpc, ...access, isMainnet, isSolo, onAnswer, onDefect, pages, isPressed })
  }),
)

export const layer = Layer.effect(
  RpcUrl,
  Effect.map(Server.Server, (listening) => RpcUrl.of({ url: Server.urlOf(listening) })),
).pipe(Layer.provide(server), Layer.provide(handlers), Layer.provide(Prometheus.layer))
