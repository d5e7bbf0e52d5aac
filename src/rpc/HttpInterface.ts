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

/** All that answers requests to a node. */
export const handlers = Layer.scoped(
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

/** What a server asks of the node behind it, beside answers. */
export type Behind = Pick<Server.Settings, "isMainnet" | "onAnswer" | "onDefect" | "isPressed">

export const behind = Effect.gen(function* () {
  const { genesis } = yield* Home
  const { observe: onAnswer, countDefect: onDefect } = yield* Prometheus.Prometheus
  const { isPressed } = yield* Pressure
  return { isMainnet: genesis.mode === "mainnet", onAnswer, onDefect, isPressed } satisfies Behind
})

/** The server in front of a node, or of several one after the other. */
export const server = (behind: Behind) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const { rpc, rpcNames: names, rateLimits, trustedProxies, clientIpHeader } = yield* Configuration
      const pages = yield* Site.built
      return Server.layer({ ...rpc, names, rateLimits, trustedProxies, clientIpHeader, pages, ...behind })
    }),
  )

export const layer = Layer.effect(
  RpcUrl,
  Effect.map(Server.Server, (listening) => RpcUrl.of({ url: Server.urlOf(listening) })),
).pipe(
  Layer.provide(Layer.unwrapEffect(Effect.map(behind, server))),
  Layer.provide(handlers),
  Layer.provide(Prometheus.layer),
)
