/** The handlers of a gateway: what is final comes from the archive, what is not from the nodes. */
import { Duration, Effect, Layer, Option } from "effect"
import { DatabaseFailed } from "../archive/ArchiveError.js"
import * as Log from "../node/log/Log.js"
import { Staking } from "../node/reads/Staking.js"
import { State } from "../node/reads/State.js"
import * as Versions from "../node/start/Versions.js"
import * as Network from "../protocol/identity/Network.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as Failure from "../rpc/api/Failure.js"
import * as AccountReference from "../rpc/handlers/AccountReference.js"
import * as Core from "../rpc/handlers/Core.js"
import * as Dag from "../rpc/handlers/Dag.js"
import * as Delegation from "../rpc/handlers/Delegation.js"
import * as Documents from "../rpc/handlers/Documents.js"
import * as Governance from "../rpc/handlers/Governance.js"
import * as StakingHandlers from "../rpc/handlers/Staking.js"
import * as Transactions from "../rpc/handlers/Transactions.js"
import { type All, Handlers } from "../rpc/server/Handlers.js"
import { Archive } from "./Archive.js"
import * as Archived from "./Archived.js"
import * as Checkpoints from "./Checkpoints.js"
import * as Events from "./Events.js"
import { forwarded } from "./Forwarding.js"
import * as Gauges from "./Gauges.js"
import { Nodes } from "./Nodes.js"
import * as Reads from "./Reads.js"
import { Records } from "./Records.js"
import * as Search from "./Search.js"
import * as Submitting from "./Submitting.js"

const log = Log.for("rpc")

/** How long the archive may take to say that it is there. */
const HEALTH_PATIENCE = Duration.seconds(1)

const notServed = (message: string) => () => Effect.fail(new Failure.NotServed({ message }))

const secret = notServed("a gateway takes no secret keys; sign the transaction yourself and send it to /tx/submit")

const away = new Failure.Unavailable({
  message: "the archive does not answer; ask again in a moment",
  retry_after_seconds: 2,
})

/**
 * A read that fails because of the database or the nodes is answered with 503; it is no bug. The reason goes to the log. Clients do
 * not see it, since it names the machines behind the gateway.
 */
const reported = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Failure.Unavailable, R> =>
  Effect.catchSomeDefect(effect, (defect) => {
    if (defect instanceof DatabaseFailed) {
      const told = log.warn("a read of the archive failed", { reason: defect.message })
      return Option.some(Effect.zipRight(told, Effect.fail(away)))
    }
    return defect instanceof Failure.Unavailable ? Option.some(Effect.fail(defect)) : Option.none()
  })

type Untyped = Readonly<Record<string, (request: never) => Effect.Effect<unknown, unknown>>>

/** The same handlers, each after or around something. */
const each = <G extends object>(
  group: G,
  change: (effect: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>,
): G =>
  // The same functions under the same names, which no type of `Object.entries` can say.
  Object.fromEntries(
    Object.entries(group as unknown as Untyped).map(([name, handle]) => [
      name,
      (request: never) => change(Effect.suspend(() => handle(request))),
    ]),
  ) as G

const core = (version: string) =>
  Effect.gen(function* () {
    const [archive, nodes, records, staking, state] = yield* Effect.all([Archive, Nodes, Records, Staking, State])
    const { epochRounds } = state.genesis.protocol
    const addressPrefix = Network.addressPrefix(state.genesis.mode)
    const status = Effect.gen(function* () {
      yield* records.refreshed
      const { dag_round, peers, mempool_size, dag_vertices } = yield* nodes.status
      const { head, totals } = records.view.read
      const { staked, activeValidators } = staking.totals()
      const { version: program, protocol, wire, database } = Versions.of(version)
      return {
        // The node's is up to a second old, and the archive may have more by now; one far beyond it is not believed.
        dag_round: Natural.round(Math.min(Math.max(dag_round, head.leaderRound), head.leaderRound + epochRounds)),
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
    return {
      ...(yield* Core.accounts(version)),
      status: () => status,
      // Soon, and at once where the archive is known to be silent: whoever asks decides by it where the next request goes.
      health: () =>
        Effect.suspend(() => (archive.isAnswering() ? Effect.orDie(archive.look) : Effect.die(away))).pipe(
          Effect.timeoutTo({
            duration: HEALTH_PATIENCE,
            onSuccess: () => Effect.void,
            onTimeout: () => Effect.die(away),
          }),
          Effect.flatten,
          Effect.as({ status: "ok" as const }),
        ),
      healthReport: () => nodes.ask(({ core }) => core.healthReport()).pipe(forwarded()),
      search: ({ query: { prefix } }) => archive.snapshot((sql) => Search.beginningWith(sql, prefix, addressPrefix)),
      keygen: secret,
      faucet: notServed("a gateway has no faucet; ask a node that has one"),
      mempool: () => nodes.ask(({ core }) => core.mempool()).pipe(forwarded()),
      peers: () => nodes.ask(({ core }) => core.peers()).pipe(forwarded()),
    } satisfies All["core"]
  })

const make = (version: string) =>
  Effect.gen(function* () {
    const [nodes, { refreshed }] = yield* Effect.all([Nodes, Records])
    // Here, and not at a node: a path is no place for whatever somebody writes for an account.
    const account = yield* AccountReference.resolver
    const afterRefresh = <G extends object>(group: G): G => each(group, (effect) => Effect.zipRight(refreshed, effect))
    const all: All = {
      core: yield* core(version),
      transactions: { ...(yield* Transactions.reads), send: secret, submit: yield* Submitting.make },
      archive: yield* Archived.handlers,
      staking: { ...afterRefresh(yield* StakingHandlers.reads), stake: secret, unstake: secret },
      delegation: {
        ...afterRefresh(yield* Delegation.reads),
        delegate: secret,
        undelegate: secret,
        setCommission: secret,
      },
      governance: { ...afterRefresh(yield* Governance.reads), propose: secret, vote: secret },
      dag: {
        ...Dag.reads(yield* Reads.dag((yield* State).genesis.networkId)),
        columns: ({ query }) =>
          nodes.ask(({ dag }) => dag.columns({ urlParams: query })).pipe(forwarded("InvalidRequest", "RoundNotFound")),
      },
      checkpoints: {
        ...(yield* Checkpoints.handlers),
        transactionProof: ({ path }) =>
          nodes
            .ask(({ checkpoints }) => checkpoints.transactionProof({ path }))
            .pipe(forwarded("TransactionNotFound", "CheckpointNotFound", "VertexNotFound")),
        proof: ({ path }) =>
          Effect.flatMap(account("address", path.address), (address) =>
            nodes
              .ask(({ checkpoints }) => checkpoints.proof({ path: { address } }))
              .pipe(forwarded("CheckpointNotFound", "NotReady")),
          ),
      },
      monitoring: {
        metrics: (yield* Gauges.Gauges).expose,
        metricsJson: () => nodes.ask(({ monitoring }) => monitoring.metricsJson()).pipe(forwarded()),
        // What a node has measured itself.
        history: ({ query }) =>
          nodes.ask(({ monitoring }) => monitoring.history({ urlParams: query })).pipe(forwarded("InvalidRequest")),
        attendance: ({ query }) =>
          nodes.ask(({ monitoring }) => monitoring.attendance({ urlParams: query })).pipe(forwarded("InvalidRequest")),
        validatorRounds: ({ path, query }) =>
          Effect.flatMap(account("address", path.address), (address) =>
            nodes
              .ask(({ monitoring }) => monitoring.validatorRounds({ path: { address }, urlParams: query }))
              .pipe(forwarded("InvalidRequest")),
          ),
      },
      events: yield* Events.make,
      documents: Documents.handlers(version),
    }
    return {
      core: each(all.core, reported),
      transactions: each(all.transactions, reported),
      archive: each(all.archive, reported),
      staking: each(all.staking, reported),
      delegation: each(all.delegation, reported),
      governance: each(all.governance, reported),
      dag: each(all.dag, reported),
      checkpoints: each(all.checkpoints, reported),
      monitoring: each(all.monitoring, reported),
      events: each(all.events, reported),
      documents: all.documents,
    } satisfies All
  })

export const layer = (version: string) => Layer.scoped(Handlers, make(version))
