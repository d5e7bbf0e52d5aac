/** The HTTP interface over a node: every group's handlers over its services, and the server in front of them. */
import { Effect, Layer } from "effect"
import { Configuration } from "../node/Configuration.js"
import { Engine } from "../node/Engine.js"
import { Front } from "../node/Front.js"
import { Home } from "../node/Home.js"
import * as Loop from "../node/Loop.js"
import * as Checkpoints from "./checkpoints/Http.js"
import * as Core from "./core/Http.js"
import * as Dag from "./dag/Http.js"
import * as Delegation from "./delegation/Http.js"
import * as Documents from "./documents/Http.js"
import * as Events from "./events/Http.js"
import * as Site from "./explorer/Site.js"
import * as Governance from "./governance/Http.js"
import { Handlers } from "./Handlers.js"
import * as Monitoring from "./monitoring/Http.js"
import * as Prometheus from "./monitoring/Prometheus.js"
import * as Server from "./Server.js"
import * as Staking from "./staking/Http.js"
import * as Transactions from "./transactions/Http.js"

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

/** A round is late by half an interval, or by this where that is nothing at all. */
const LEAST_LATENESS_MS = 50
/**
 * What is later than this many intervals is late for another reason than what comes to the door, unless there is work to
 * be done here: no round comes before the checkpoint that closes an epoch.
 */
const OVERDUE_INTERVALS = 10

const server = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { rpc, rpcNames: names, rateLimits, trustedProxies, clientIpHeader } = yield* Configuration
    const { genesis } = yield* Home
    const { observe: onAnswer, countDefect: onDefect } = yield* Prometheus.Prometheus
    const isMainnet = genesis.mode === "mainnet"
    const pages = yield* Site.built
    const { pulse, view } = yield* Engine
    const clock = yield* Effect.clock
    const { roundIntervalMs } = genesis.protocol
    const lateMs = roundIntervalMs + Math.max(LEAST_LATENESS_MS, roundIntervalMs / 2)
    const overdueMs = Math.max(2 * lateMs, OVERDUE_INTERVALS * roundIntervalMs)
    const isPressed = () => {
      const sinceMs = Loop.unsafeNow(clock) - pulse().advancedAt
      return sinceMs > lateMs && (sinceMs < overdueMs || view.hasWork)
    }
    const access = { names, rateLimits, trustedProxies, clientIpHeader }
    return Server.layer({ ...rpc, ...access, isMainnet, onAnswer, onDefect, pages, isPressed })
  }),
)

export const layer = Layer.effect(
  Front,
  Effect.map(Server.Server, (listening) => Front.of({ url: Server.urlOf(listening) })),
).pipe(Layer.provide(server), Layer.provide(handlers), Layer.provide(Prometheus.layer))
