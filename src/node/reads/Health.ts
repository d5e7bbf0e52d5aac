/** The health of each part of the node, derived from its figures on request. */
import { Clock, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { Recovery as WaitingFor } from "../../consensus/Recovery.js"
import { type Figures, Network } from "../../network/Network.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { Sats } from "../../protocol/numbers/Sats.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import type * as CatchUp from "../engine/CatchUp.js"
import { Engine } from "../engine/Engine.js"
import type * as FastSync from "../engine/FastSync.js"
import type * as Recovery from "../engine/Recovery.js"
import { type Component, Supervisor } from "../lifecycle/Supervisor.js"
import { DirectoryWatch } from "../start/DirectoryWatch.js"
import { Home } from "../start/Home.js"
import { Checkpoints } from "./Checkpoints.js"
import { Dag } from "./Dag.js"
import * as Findings from "./Findings.js"
import { KeyWatch } from "./KeyWatch.js"
import { Mempool } from "./Mempool.js"
import { Metrics } from "./Metrics.js"
import * as Problems from "./Problems.js"
import { State } from "./State.js"
import { Validator } from "./Validator.js"

/** From best to worst. */
const ORDER = ["healthy", "degraded", "warning", "unhealthy"] as const

export type Status = (typeof ORDER)[number]

export const worst = (statuses: ReadonlyArray<Status>): Status =>
  statuses.reduce((a, b) => (ORDER.indexOf(a) < ORDER.indexOf(b) ? b : a), "healthy" as Status)

export interface Report {
  readonly status: Status
  readonly dag: { readonly status: Status; readonly round: Natural.Round; readonly vertices: number }
  readonly finality: { readonly status: Status; readonly finalizedRound: Natural.Round; readonly lag: number }
  readonly state: { readonly status: Status; readonly accounts: number; readonly totalSupply: Sats }
  readonly mempool: { readonly status: Status; readonly size: number; readonly capacity: number }
  readonly network: { readonly status: Status; readonly peers: number }
  readonly checkpoints: { readonly status: Status; readonly latestRound: Natural.Round }
  /** While the closing state of an epoch is fetched. */
  readonly sync: Option.Option<{ readonly status: Status } & FastSync.Progress>
  /** While vertices are fetched. */
  readonly catchUp: Option.Option<{ readonly status: Status } & CatchUp.Progress>
  /** While the node is behind, joins or does not sign. */
  readonly recovery: Option.Option<{ readonly status: Status } & Recovery.Waiting>
  /** While the wall clock differs from the committee's. */
  readonly clock: Option.Option<{ readonly status: Status; readonly aheadMs: number }>
  readonly components: ReadonlyArray<Component>
  readonly problems: ReadonlyArray<Problems.Problem>
}

/** Healthy up to `healthy`, a warning up to `warning`, and unhealthy above. */
const rising = (value: number, healthy: number, warning: number): Status =>
  value <= healthy ? "healthy" : value <= warning ? "warning" : "unhealthy"

const QUIET_INTERVALS = 10
const STOPPED_INTERVALS = 60
const LOOKED_EVERY = Duration.seconds(5)

export const ofDag = (quietMs: number, roundIntervalMs: number): Status => {
  if (quietMs < QUIET_INTERVALS * roundIntervalMs) return "healthy"
  return quietMs < STOPPED_INTERVALS * roundIntervalMs ? "warning" : "unhealthy"
}

/** An answer on the way takes longer only over a bad line or from a busy signer. */
const SIGNER_ANSWERS_WITHIN_MS = 1_000

/** Missed rounds begin at once. After the duration of a DAG standstill, further missed rounds cost the seat. */
export const ofSigner = (quietMs: number, roundIntervalMs: number): Status => {
  if (quietMs < SIGNER_ANSWERS_WITHIN_MS) return "healthy"
  return quietMs < STOPPED_INTERVALS * roundIntervalMs ? "warning" : "unhealthy"
}

export const ofLag = (lag: number): Status => rising(lag, 3, 10)

export const ofMempool = (size: number): Status => (size < 5_000 ? "healthy" : size <= 8_000 ? "warning" : "unhealthy")

const ENOUGH_PEERS = 3

/**
 * A network of fewer than four validators has no more to connect to; docs/decisions/health.md explains why that counts
 * as healthy.
 */
export const enoughPeers = (otherSeats: number): number => Math.min(ENOUGH_PEERS, otherSeats)

export const ofPeers = (peers: number, enough: number): Status =>
  peers >= enough ? "healthy" : peers === 2 ? "warning" : "unhealthy"

/**
 * A bug should be reported. If strangers find no place, an attacker may be keeping them out, and they cannot report it.
 */
export const ofNetwork = ({ freePlaces, failures }: Pick<Figures, "failures" | "freePlaces">): Status =>
  freePlaces > 0 && failures === 0 ? "healthy" : "warning"

export const ofCheckpoints = (age: number): Status => (age > 500 ? "warning" : "healthy")

/** Why this node should get no traffic for now. */
export interface Obstacle {
  readonly reason: "behind" | "no_quorum" | "signer" | "halted"
  readonly message: string
}

const obstacleOf = ({ following, signing }: WaitingFor): Option.Option<Obstacle> => {
  switch (following._tag) {
    case "Behind":
    case "EpochOver":
    case "Joining":
      return Option.some({ reason: "behind", message: "the node is catching up with the network; use another node" })
    case "Standstill":
      return Option.some({
        reason: "no_quorum",
        message: "no new round has a quorum; the node is waiting for validators",
      })
    case "InStep":
    case "Closing":
      return signing._tag === "Asking"
        ? Option.some({ reason: "no_quorum", message: "the node has just started and is waiting for a quorum" })
        : Option.none()
  }
}

export class Health extends Context.Tag("udg/Health")<
  Health,
  {
    readonly report: Effect.Effect<Report>
    /** None for a node that follows the network. */
    readonly obstacle: Effect.Effect<Option.Option<Obstacle>>
  }
>() {}

const make = Effect.gen(function* () {
  const [dag, state, mempool, metrics] = yield* Effect.all([Dag, State, Mempool, Metrics])
  const [checkpoints, validator, supervisor, engine] = yield* Effect.all([Checkpoints, Validator, Supervisor, Engine])
  const network = yield* Network
  const directory = yield* DirectoryWatch
  const keys = yield* KeyWatch
  const { remoteSigner } = yield* Home
  const { roundIntervalMs } = state.genesis.protocol
  const problems = new Problems.Problems()

  const report = Effect.gen(function* () {
    const { round, finalizedRound, vertices, advancedAt } = yield* dag.position
    const { peers, totalSupply } = metrics.figures()
    const size = yield* mempool.size
    const latestRound = checkpoints.latestRound()
    const standing = yield* validator.standing
    const components = yield* supervisor.components
    const isHalted = engine.view.isHalted
    const isMember = Option.exists(standing, ({ isInCommittee }) => isInCommittee)
    const isForeign = Option.exists(standing, ({ hasForeignHeader }) => hasForeignHeader)
    const seats = engine.view.read.epoch.members.length
    const fastSync = yield* engine.fastSync
    const quietMs = (yield* SteadyClock.current) - advancedAt
    const enough = enoughPeers(seats - (isMember ? 1 : 0))
    const ofAllPeers = ofPeers(peers, enough)
    const parts = {
      dag: { status: isForeign ? "unhealthy" : ofDag(quietMs, roundIntervalMs), round, vertices },
      finality: { status: ofLag(round - finalizedRound), finalizedRound, lag: round - finalizedRound },
      state: {
        status: isHalted ? "unhealthy" : "healthy",
        accounts: engine.view.read.accountCount,
        totalSupply,
      },
      mempool: { status: ofMempool(size), size, capacity: mempool.capacity },
      network: { status: worst([ofAllPeers, ofNetwork(network.figures())]), peers },
      checkpoints: { status: ofCheckpoints(round - latestRound), latestRound },
    } as const
    // The node answers, but its state is about to be replaced.
    const sync = Option.map(fastSync, (progress) => ({ status: "degraded" as const, ...progress }))
    const catchUp = Option.map(yield* engine.catchUp, (progress) => ({ status: "degraded" as const, ...progress }))
    const { waiting, wrongClockAheadMs } = engine.watch
    const recovery = Option.map(Option.fromNullable(waiting), (what) => ({
      status: what.needsOperator ? ("unhealthy" as const) : ("degraded" as const),
      ...what,
    }))
    const clock = Option.map(Option.fromNullable(wrongClockAheadMs), (aheadMs) => ({
      status: "warning" as const,
      aheadMs,
    }))
    const isPartial =
      Option.isSome(recovery) ||
      Option.isSome(sync) ||
      Option.isSome(catchUp) ||
      components.some(({ status }) => status === "restarting")
    const isBehind = Option.isSome(fastSync) || Option.isSome(yield* engine.catchUp)
    const lacksSeat = !isBehind && Option.exists(standing, ({ activeStake }) => !isMember && activeStake > 0)
    const hitch = keys.hitch()
    const ofSeat: Status = lacksSeat || hitch?.isInForce === false ? "warning" : "healthy"
    const signer = Option.map(remoteSigner, (remote) => {
      const refusal = remote.refusal()
      // Without a seat there is no next vertex, with which a refusal would end.
      const silentMs = Math.max(remote.quietMs(), isMember ? (refusal?.forMs ?? 0) : 0)
      return { status: ofSigner(silentMs, roundIntervalMs), silentMs, refusal: refusal?.reason ?? null }
    })
    const upgrade = { decided: engine.view.read.decidedVersion, known: metrics.build.protocol }
    const ofUpgrade: Status = upgrade.decided > upgrade.known ? "warning" : "healthy"
    const lost = directory.lost()
    const ofDirectory: Status = lost === null ? "healthy" : "unhealthy"
    const own = [ofDirectory, ofSeat, ofUpgrade, ...Object.values(parts).map(({ status }) => status)]
    const statuses = [
      ...own,
      ...[...Option.toArray(clock), ...Option.toArray(recovery), ...Option.toArray(signer)].map(({ status }) => status),
    ]
    const status = worst(isPartial ? [...statuses, "degraded"] : statuses)
    const found = Findings.of({
      dag: { status: parts.dag.status, quietMs, isForeign },
      finality: parts.finality,
      state: parts.state,
      directory: { status: ofDirectory, lost },
      seat: { status: ofSeat, epoch: engine.view.read.epoch.epoch, hitch },
      signer,
      upgrade: { status: ofUpgrade, ...upgrade },
      mempool: parts.mempool,
      network: { ofPeers: ofAllPeers, ofLayer: ofNetwork(network.figures()), peers, enough, ...network.figures() },
      checkpoints: { status: parts.checkpoints.status, age: round - latestRound },
      clock,
      sync,
      catchUp,
      recovery,
      components,
    })
    const at = Natural.timestamp(yield* Clock.currentTimeMillis)
    return {
      status,
      ...parts,
      sync,
      catchUp,
      recovery,
      clock,
      components,
      problems: problems.look(found, at),
    }
  })

  // Without periodic reports, a problem would begin when somebody first asks.
  yield* Effect.forkScoped(Effect.repeat(report, Schedule.spaced(LOOKED_EVERY)))
  const obstacle = Effect.map(SteadyClock.current, (now): Option.Option<Obstacle> => {
    const lost = directory.lost()
    if (lost !== null) return Option.some({ reason: "halted", message: `${lost}; the node is ending` })
    if (engine.view.isHalted)
      return Option.some({ reason: "halted", message: "the ledger has stopped; the node is ending" })
    if (Option.exists(remoteSigner, ({ hasAnswered }) => !hasAnswered())) {
      return Option.some({
        reason: "signer",
        message: "the signer has not answered since the node started; the log names its address and the cause",
      })
    }
    return obstacleOf(engine.view.recovery(now))
  })
  return Health.of({ report, obstacle })
})

export const layer = Layer.scoped(Health, make)
