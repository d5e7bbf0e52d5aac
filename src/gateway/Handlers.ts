/** The handlers of a gateway: final data comes from the archive, the rest from nodes. */
import { Clock, Effect, Layer } from "effect"
import * as Findings from "../node/reads/Findings.js"
import { Problems } from "../node/reads/Problems.js"
import { Staking } from "../node/reads/Staking.js"
import { State } from "../node/reads/State.js"
import * as Versions from "../node/start/Versions.js"
import * as ProtocolVersion from "../protocol/epoch/ProtocolVersion.js"
import * as Network from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as Failure from "../rpc/api/Failure.js"
import * as AccountReference from "../rpc/handlers/AccountReference.js"
import * as Core from "../rpc/handlers/Core.js"
import * as Dag from "../rpc/handlers/Dag.js"
import * as Delegation from "../rpc/handlers/Delegation.js"
import * as Documents from "../rpc/handlers/Documents.js"
import * as EventHandlers from "../rpc/handlers/Events.js"
import * as Governance from "../rpc/handlers/Governance.js"
import { group } from "../rpc/handlers/Group.js"
import * as StakingHandlers from "../rpc/handlers/Staking.js"
import * as Transactions from "../rpc/handlers/Transactions.js"
import { Archive } from "./Archive.js"
import * as ArchiveHandlers from "./ArchiveHandlers.js"
import * as Checkpoints from "./Checkpoints.js"
import * as Events from "./Events.js"
import * as FinalizedDag from "./FinalizedDag.js"
import * as FinalizedTransactions from "./FinalizedTransactions.js"
import { forwarded } from "./Forwarding.js"
import * as GatewayHealth from "./GatewayHealth.js"
import * as Gauges from "./Gauges.js"
import { Nodes } from "./Nodes.js"
import { RecordCache } from "./RecordCache.js"
import * as Search from "./Search.js"
import * as Submitting from "./Submitting.js"

const notServed = (message: string) => () => Effect.fail(new Failure.NotServed({ message }))

const secret = notServed("a gateway takes no secret keys; sign the transaction yourself and send it to /tx/submit")

/** Makes handlers wait until the records in memory reflect the archive's last commit. */
const refreshing = Effect.map(
  RecordCache,
  ({ refreshed }) =>
    <Request, A, E>(handle: (request: Request) => Effect.Effect<A, E>) =>
    (request: Request) =>
      Effect.zipRight(
        refreshed,
        Effect.suspend(() => handle(request)),
      ),
)

const makeStatus = (version: string) =>
  Effect.gen(function* () {
    const [nodes, records, staking, { genesis }] = yield* Effect.all([Nodes, RecordCache, Staking, State])
    const { version: program, protocol, wire, database } = Versions.of(version)
    return Effect.gen(function* () {
      yield* records.refreshed
      const { dag_round, peers, mempool_size, dag_vertices } = yield* nodes.status
      const { head, totals } = records.view.read
      const { staked, activeValidators } = staking.totals()
      // The node's status is up to a second old, and the archive may be ahead of it; a round far beyond is not
      // believed.
      const furthest = head.leaderRound + genesis.protocol.epochRounds
      return {
        dag_round: Natural.round(Math.min(Math.max(dag_round, head.leaderRound), furthest)),
        last_finalized_round: head.leaderRound,
        peers,
        total_supply: totals.total,
        total_supply_coin: Sats.toCoin(totals.total),
        total_staked: staked,
        active_stakers: activeValidators,
        mempool_size,
        dag_vertices,
        versions: { program, protocol, wire, database },
      }
    })
  })

const makeHealthReport = Effect.gen(function* () {
  const [nodes, records] = yield* Effect.all([Nodes, RecordCache])
  const problems = new Problems()
  return Effect.gen(function* () {
    const report = yield* nodes.ask(({ core }) => core.healthReport()).pipe(forwarded())
    yield* records.refreshed
    const { head, decidedVersion: decided } = records.view.read
    const known = ProtocolVersion.NEWEST
    const outdated = Findings.upgrade({ status: decided > known ? "warning" : "healthy", decided, known })
    const own = problems.look(outdated, Natural.timestamp(yield* Clock.currentTimeMillis))
    return GatewayHealth.including(report, { round: head.leaderRound, time: head.time }, own)
  })
})

const core = (version: string) =>
  group("core", (handlers) =>
    Effect.gen(function* () {
      const [archive, nodes, { genesis }] = yield* Effect.all([Archive, Nodes, State])
      const prefix = Network.addressPrefix(genesis.mode)
      const { balance, names, policy, network } = yield* Core.accounts(version, { hasArchive: true })
      const [status, healthReport] = yield* Effect.all([makeStatus(version), makeHealthReport])
      return (
        handlers
          .handle("status", () => status)
          .handle("balance", balance)
          .handle("policy", policy)
          .handle("names", names)
          .handle("search", ({ urlParams }) =>
            archive.snapshot((sql) => Search.beginningWith(sql, urlParams.prefix, prefix)),
          )
          // Clients decide by it where to send the next request.
          .handle("health", () => Effect.as(archive.isThere, { status: "ok" as const }))
          .handle("ready", () => Effect.as(archive.isThere, { status: "ready" as const }))
          .handle("healthReport", () => healthReport)
          .handle("keygen", secret)
          .handle("faucet", notServed("a gateway has no faucet; use a node that has one"))
          .handle("mempool", () => nodes.ask(({ core }) => core.mempool()).pipe(forwarded()))
          .handle("peers", () => nodes.ask(({ core }) => core.peers()).pipe(forwarded()))
          .handle("network", network)
      )
    }),
  )

/** By anything that the archive knows of a transaction. */
const latest = Effect.gen(function* () {
  const [archive, { genesis }] = yield* Effect.all([Archive, State])
  const finalized = FinalizedTransactions.make(genesis.networkId)
  const find: Transactions.Latest = (before, limit, filter) =>
    Effect.map(
      // One more than requested, to detect a further page.
      archive[filter.words === undefined ? "snapshot" : "search"]((sql) =>
        finalized.latest(sql, filter, before, limit + 1),
      ),
      (found) => {
        const transactions = found.slice(0, limit)
        const last = transactions.at(-1)?.recorded.sequence ?? null
        return { transactions, next: found.length > limit ? last : null }
      },
    )
  return find
})

const transactions = group("transactions", (handlers) =>
  Effect.gen(function* () {
    const finding = yield* Transactions.reads(yield* latest)
    return handlers
      .handle("send", secret)
      .handle("submit", yield* Submitting.make)
      .handle("lookup", finding.lookup)
      .handle("history", finding.history)
      .handle("statement", finding.statement)
      .handle("latest", finding.latest)
  }),
)

const staking = group("staking", (handlers) =>
  Effect.gen(function* () {
    const [refresh, { stakeOf, validators }] = yield* Effect.all([refreshing, StakingHandlers.reads])
    return handlers
      .handle("stake", secret)
      .handle("unstake", secret)
      .handle("stakeOf", refresh(stakeOf))
      .handle("validators", refresh(validators))
  }),
)

const delegation = group("delegation", (handlers) =>
  Effect.gen(function* () {
    const [refresh, { delegationOf, delegators }] = yield* Effect.all([refreshing, Delegation.reads])
    return handlers
      .handle("delegate", secret)
      .handle("undelegate", secret)
      .handle("setCommission", secret)
      .handle("delegationOf", refresh(delegationOf))
      .handle("delegators", refresh(delegators))
  }),
)

const governance = group("governance", (handlers) =>
  Effect.gen(function* () {
    const [refresh, { proposals, proposal, voteOf, config }] = yield* Effect.all([refreshing, Governance.reads])
    return handlers
      .handle("propose", secret)
      .handle("vote", secret)
      .handle("proposals", refresh(proposals))
      .handle("proposal", refresh(proposal))
      .handle("voteOf", refresh(voteOf))
      .handle("config", refresh(config))
  }),
)

const dag = group("dag", (handlers) =>
  Effect.gen(function* () {
    const [nodes, { genesis }] = yield* Effect.all([Nodes, State])
    const { round, vertex } = yield* Dag.reads(yield* FinalizedDag.dag(genesis.networkId))
    return handlers
      .handle("round", round)
      .handle("vertex", vertex)
      .handle("columns", ({ urlParams }) =>
        nodes.ask(({ dag }) => dag.columns({ urlParams })).pipe(forwarded("InvalidRequest", "RoundNotFound")),
      )
  }),
)

/** Figures that a node measured itself. */
const monitoring = group("monitoring", (handlers) =>
  Effect.gen(function* () {
    const [nodes, gauges, account] = yield* Effect.all([Nodes, Gauges.Gauges, AccountReference.resolver])
    return (
      handlers
        .handle("metrics", gauges.expose)
        .handle("metricsJson", () => nodes.ask(({ monitoring }) => monitoring.metricsJson()).pipe(forwarded()))
        .handle("history", ({ urlParams }) =>
          nodes.ask(({ monitoring }) => monitoring.history({ urlParams })).pipe(forwarded("InvalidRequest")),
        )
        .handle("attendance", ({ urlParams }) =>
          nodes.ask(({ monitoring }) => monitoring.attendance({ urlParams })).pipe(forwarded("InvalidRequest")),
        )
        // Resolved here rather than by a node: an account's text in any form does not belong in a path.
        .handle("validatorRounds", ({ path, urlParams }) =>
          Effect.flatMap(account("address", path.address), (address) =>
            nodes
              .ask(({ monitoring }) => monitoring.validatorRounds({ path: { address }, urlParams }))
              .pipe(forwarded("InvalidRequest")),
          ),
        )
    )
  }),
)

export const layer = (version: string) =>
  Layer.mergeAll(
    core(version),
    transactions,
    ArchiveHandlers.layer,
    staking,
    delegation,
    governance,
    dag,
    Checkpoints.layer,
    monitoring,
    EventHandlers.layer(Events.feed),
    Documents.layer(version),
  )
