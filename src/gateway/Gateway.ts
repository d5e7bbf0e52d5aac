/** A gateway: a network's HTTP interface over an archive and some nodes. It keeps no state, so there can be many. */
import { Effect, Layer, type Redacted } from "effect"
import * as Server from "../edge/server/Server.js"
import * as GovernanceReads from "../node/reads/Governance.js"
import * as StakingReads from "../node/reads/Staking.js"
import type * as Genesis from "../protocol/epoch/Genesis.js"
import { Api } from "../rpc/api/Api.js"
import * as ServiceErrors from "../rpc/handlers/ServiceErrors.js"
import * as Pages from "../rpc/server/Pages.js"
import * as ServerSettings from "../rpc/server/ServerSettings.js"
import * as Archive from "./Archive.js"
import * as Gauges from "./Gauges.js"
import * as Handlers from "./Handlers.js"
import * as Nodes from "./Nodes.js"
import * as RecordCache from "./RecordCache.js"
import * as State from "./State.js"

export interface Settings
  extends Pick<Server.Settings, "host" | "port" | "names" | "rateLimits" | "trustedProxies" | "clientIpHeader"> {
  readonly version: string
  readonly genesis: Genesis.Genesis
  readonly database: Redacted.Redacted
  readonly nodes: ReadonlyArray<string>
}

const views = (genesis: Genesis.Genesis) =>
  Layer.mergeAll(
    Layer.scoped(
      StakingReads.Staking,
      Effect.flatMap(RecordCache.RecordCache, ({ view }) => StakingReads.over(view)),
    ),
    Layer.effect(
      GovernanceReads.Governance,
      Effect.map(RecordCache.RecordCache, ({ view }) => GovernanceReads.over(view, genesis.protocol.epochRounds)),
    ),
    State.layer(genesis),
  )

/** Listens until the scope ends. */
export const layer = ({ version, genesis, database, nodes, ...access }: Settings) => {
  const outside = Layer.merge(Archive.layer(database, genesis), Nodes.layer(nodes, genesis))
  const inside = Layer.merge(RecordCache.layer(genesis), Gauges.layer).pipe(Layer.provideMerge(outside))
  const server = Layer.unwrapScoped(
    Effect.gen(function* () {
      const { asOf, reached } = yield* Archive.Archive
      const { observe, countDefect: onDefect } = yield* Gauges.Gauges
      const onAnswer = yield* ServerSettings.observed(observe)
      const serving = ServerSettings.settings({ isMainnet: genesis.mode === "mainnet" })
      const pages = yield* Pages.built(version)
      // A node's answer can differ the next time, and a false proof would be cached.
      const ofNodes = () => ({})
      const versions = {
        state: ofNodes,
        commit: asOf,
        record: asOf,
        written: ofNodes,
        figures: ofNodes,
        history: ofNodes,
        proof: ofNodes,
      }
      return Server.serve(Api, {
        errors: ServiceErrors.failures,
        ...access,
        ...serving,
        versions,
        onAnswer,
        onDefect,
        pages,
        freshness: { asOf, reached },
      })
    }),
  )
  return server.pipe(Layer.provide(Handlers.layer(version)), Layer.provide(views(genesis)), Layer.provideMerge(inside))
}
