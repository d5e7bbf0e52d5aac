/** The HTTP interface over a node: the handlers of every group and the server in front of them. */
import { Effect, Layer } from "effect"
import * as Mounted from "../edge/server/Mounted.js"
import * as Server from "../edge/server/Server.js"
import { Engine } from "../node/engine/Engine.js"
import { RpcUrl } from "../node/RpcUrl.js"
import { Metrics } from "../node/reads/Metrics.js"
import { MetricsHistory } from "../node/reads/MetricsHistory.js"
import { Pressure } from "../node/reads/Pressure.js"
import { State } from "../node/reads/State.js"
import { Configuration } from "../node/start/Configuration.js"
import { Home } from "../node/start/Home.js"
import { Api } from "./api/Api.js"
import * as Archive from "./handlers/Archive.js"
import * as Checkpoints from "./handlers/Checkpoints.js"
import * as Core from "./handlers/Core.js"
import * as Dag from "./handlers/Dag.js"
import * as Delegation from "./handlers/Delegation.js"
import * as Documents from "./handlers/Documents.js"
import * as Events from "./handlers/Events.js"
import * as Governance from "./handlers/Governance.js"
import * as Monitoring from "./handlers/Monitoring.js"
import * as ServiceErrors from "./handlers/ServiceErrors.js"
import * as Staking from "./handlers/Staking.js"
import * as Transactions from "./handlers/Transactions.js"
import * as OperatorListener from "./metrics/OperatorListener.js"
import * as Prometheus from "./metrics/Prometheus.js"
import * as Pages from "./server/Pages.js"
import * as ServerSettings from "./server/ServerSettings.js"

export const groups = Layer.unwrapEffect(
  Effect.map(Configuration, ({ version }) =>
    Layer.mergeAll(
      Core.layer,
      Transactions.layer,
      Archive.layer,
      Staking.layer,
      Delegation.layer,
      Governance.layer,
      Dag.layer,
      Checkpoints.layer,
      Monitoring.layer,
      Events.layer(Events.feed),
      Documents.layer(version),
    ),
  ),
)

/** The node's services that a server uses besides the handlers. */
export interface Behind
  extends Required<Pick<Server.Settings, "versions" | "memory" | "onAnswer" | "onDefect" | "isPressed">> {
  readonly isMainnet: boolean
}

export const behind = Effect.gen(function* () {
  const { genesis } = yield* Home
  const { observe: onAnswer, countDefect: onDefect } = yield* Prometheus.Prometheus
  const { isPressed } = yield* Pressure
  const [{ revision, recorded, asOf }, metrics, { time }] = yield* Effect.all([State, Metrics, MetricsHistory])
  const versions = {
    state: revision,
    commit: asOf,
    record: recorded,
    // For answers that show only what the files already hold, and so never wait for them.
    written: revision,
    // The uptime advances even if nothing else does.
    figures: () => `${revision()} ${metrics.uptimeSeconds()}`,
    history: time,
    // Later vertices and signatures do not change it.
    proof: () => undefined,
  }
  const { view, written, viewWritten } = yield* Engine
  const memory = {
    versions: new Set(["state", "commit"]),
    isWritten: () => view.read.head.index <= written().index,
    written: viewWritten,
  }
  return { isMainnet: genesis.mode === "mainnet", versions, memory, onAnswer, onDefect, isPressed } satisfies Behind
})

/** The server in front of a node, or of several one after the other. */
export const server = ({ isMainnet, ...behind }: Behind) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const { version, rpc, rpcNames: names, rateLimits, trustedProxies, clientIpHeader } = yield* Configuration
      const access = { names, rateLimits, trustedProxies, clientIpHeader, ...ServerSettings.settings({ isMainnet }) }
      const onAnswer = yield* ServerSettings.observed(behind.onAnswer)
      const pages = yield* Pages.built(version)
      return Server.serve(Api, { ...rpc, ...access, ...behind, errors: ServiceErrors.failures, onAnswer, pages })
    }),
  )

export const layer = Layer.effect(
  RpcUrl,
  Effect.map(Server.Server, (listening) => RpcUrl.of({ url: Server.urlOf(listening) })),
).pipe(
  Layer.provide(Layer.unwrapEffect(Effect.map(behind, server))),
  Layer.provide(groups),
  Layer.merge(OperatorListener.layer),
  Layer.provide(Prometheus.layer),
)

/** The same groups for `HttpApiBuilder.api(Api)`, in a program whose own server has other groups as well. */
export const mounted = Layer.unwrapEffect(
  Effect.map(behind, ({ isMainnet, versions, memory }) =>
    Mounted.layer(Api, { ...ServerSettings.settings({ isMainnet }), versions, memory, errors: ServiceErrors.failures }),
  ),
).pipe(Layer.provide(groups), Layer.provide(Prometheus.layer))
