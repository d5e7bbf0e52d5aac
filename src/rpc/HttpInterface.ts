/** The HTTP interface over a node: every group's handlers over its services, and the server in front of them. */
import { Effect, Layer } from "effect"
import { RpcUrl } from "../node/RpcUrl.js"
import { Pressure } from "../node/reads/Pressure.js"
import { Configuration } from "../node/start/Configuration.js"
import { Home } from "../node/start/Home.js"
import * as Archive from "./handlers/Archive.js"
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
      archive: Archive.handlers,
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

const server = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { rpc, rpcNames: names, rateLimits, trustedProxies, clientIpHeader } = yield* Configuration
    const { genesis } = yield* Home
    const { observe: onAnswer, countDefect: onDefect } = yield* Prometheus.Prometheus
    const isMainnet = genesis.mode === "mainnet"
    const pages = yield* Site.built
    const { isPressed } = yield* Pressure
    const access = { names, rateLimits, trustedProxies, clientIpHeader }
    return Server.layer({ ...rpc, ...access, isMainnet, onAnswer, onDefect, pages, isPressed })
  }),
)

export const layer = Layer.effect(
  RpcUrl,
  Effect.map(Server.Server, (listening) => RpcUrl.of({ url: Server.urlOf(listening) })),
).pipe(Layer.provide(server), Layer.provide(handlers), Layer.provide(Prometheus.layer))
