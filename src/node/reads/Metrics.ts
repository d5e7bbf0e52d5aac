/** The node's figures, measured on request. */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import type { Turnover } from "../../ledger/pending/PendingTransactions.js"
import { Network, type Figures as NetworkFigures } from "../../network/Network.js"
import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import type { ProtocolVersion } from "../../protocol/epoch/ProtocolVersion.js"
import * as Address from "../../protocol/identity/Address.js"
import type { Epoch, Timestamp } from "../../protocol/numbers/Natural.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as DiskSpace from "../../storage/files/DiskSpace.js"
import * as SteadyClock from "../../turns/SteadyClock.js"
import type { Counters } from "../engine/Counters.js"
import { Engine } from "../engine/Engine.js"
import { Recording } from "../engine/Recording.js"
import { Configuration } from "../start/Configuration.js"
import { Home } from "../start/Home.js"
import * as Versions from "../start/Versions.js"
import { Checkpoints } from "./Checkpoints.js"
import { Validator } from "./Validator.js"

export type { NetworkFigures }

export interface Build extends Versions.Versions {
  readonly networkId: string
  readonly mode: string
}

/** A monitor's measurements beyond the figures. */
export interface Measured {
  readonly figures: Figures
  readonly counters: Pick<Counters, "counts" | "finality" | "outcomes" | "participation" | "refusals">
  readonly network: NetworkFigures
  readonly mempool: Turnover
  readonly load: ReturnType<(typeof Engine.Service)["load"]>
  readonly build: Build
  readonly epoch: { readonly number: Epoch; readonly roundsLeft: number; readonly members: number }
  /** The version in force, and the one after every upgrade that has passed. */
  readonly protocol: { readonly version: ProtocolVersion; readonly decided: ProtocolVersion }
  /** Null for a node without a validator key. */
  readonly seat: { readonly isTaken: boolean; readonly weightRatio: number; readonly activeStake: Sats.Sats } | null
  /** How long the remote signer has not answered; null for a node without one. */
  readonly signerQuietMs: number | null
  /** The commit time of the latest quorum checkpoint; null before the first. */
  readonly checkpointTime: Timestamp | null
  /** How far this node's wall clock is ahead of the committee's; null before a quorum has been heard. */
  readonly clockAheadMs: number | null
  readonly pauses: number
  /** While a closing state is fetched: the records held, and their share of all. */
  readonly sync: { readonly records: number; readonly ratio: number } | null
  /** Rounds that a quorum has made and this node has not. */
  readonly roundsBehind: number
  /** The last commit also recorded elsewhere, and how many are not yet; null without a recording. */
  readonly recording: { readonly commit: number; readonly lag: number } | null
  /** Null for a node that keeps everything in memory. */
  readonly disk: DiskSpace.DiskSpace | null
}

/** How long figures wait for the writer before they show an older commit. */
const GATHERING_LIMIT = Duration.millis(250)
/** The machine's own clock, because a development network can set its clock forward by years. */
const wallClock = Clock.make()

const make = Effect.gen(function* () {
  const engine = yield* Engine
  const { view, pulse, counters, watch } = engine
  const checkpoints = yield* Checkpoints
  const validator = yield* Validator
  const { version } = yield* Configuration
  const { genesis, location, remoteSigner } = yield* Home
  const { figures: network } = yield* Network
  const recording = Option.getOrNull(yield* Effect.serviceOption(Recording))
  const clock = yield* Effect.clock
  const startedAt = SteadyClock.unsafeCurrent(clock)
  const uptimeSeconds = () => Math.floor((SteadyClock.unsafeCurrent(clock) - startedAt) / 1_000)
  let activeValidators = view.read.activeValidatorCount
  /**
   * As of the last commit in the files, since a crash takes back what only memory has. Plain functions, because
   * monitors and wallets call them often.
   */
  const figures = () => {
    const { read, pool } = view
    const { round } = pulse()
    const { index, leaderRound, totals } = engine.written()
    const { staked, delegated, total } = totals
    if (read.head.index === index) activeValidators = read.activeValidatorCount
    return {
      dagRound: round,
      finalizedRound: leaderRound,
      finalityLag: round - leaderRound,
      peers: counters.counts.peers,
      mempoolSize: pool.size,
      totalSupply: total,
      totalStaked: Sats.addBounded(staked, delegated),
      activeValidators,
      latestCheckpoint: checkpoints.latestRound(),
      vertices: counters.counts.vertices,
      uptimeSeconds: uptimeSeconds(),
    }
  }
  /** Writes gathered data first if that is quick, so that the files do not look behind without need. */
  const current = Effect.map(
    Effect.withClock(Effect.timeoutOption(engine.viewWritten, GATHERING_LIMIT), wallClock),
    figures,
  )
  const build: Build = {
    ...Versions.of(version),
    networkId: genesis.networkId,
    mode: genesis.mode,
  }
  const disk = location._tag === "Directory" ? DiskSpace.measure(location.directory) : Effect.succeed(null)

  const seat = Effect.map(
    validator.standing,
    Option.match({
      onNone: () => null,
      onSome: ({ publicKey, isInCommittee, activeStake }) => {
        const { epoch } = view.read
        const weight = EpochRecord.memberOf(epoch, Address.fromPublicKey(publicKey))?.weight ?? 0
        return { isTaken: isInCommittee, weightRatio: weight / EpochRecord.totalWeight(epoch), activeStake }
      },
    }),
  )

  const measured: Effect.Effect<Measured> = Effect.gen(function* () {
    const sync = Option.getOrNull(yield* engine.fastSync)
    const catchUp = Option.getOrNull(yield* engine.catchUp)
    const space = yield* disk
    const ownSeat = yield* seat
    const record = view.read.epoch
    return {
      figures: yield* current,
      counters,
      network: network(),
      mempool: view.pool.turnover,
      load: engine.load(),
      build,
      epoch: {
        number: record.epoch,
        roundsLeft: Math.max(0, EpochRecord.lastRound(record) - pulse().round),
        members: record.members.length,
      },
      protocol: { version: record.rules.protocolVersion, decided: view.read.decidedVersion },
      seat: ownSeat,
      signerQuietMs: Option.getOrNull(Option.map(remoteSigner, ({ quietMs }) => quietMs())),
      checkpointTime: checkpoints.latestTime(),
      clockAheadMs: watch.clockAheadMs,
      pauses: view.pauses.count,
      sync: sync === null ? null : { records: sync.records, ratio: sync.percent / 100 },
      roundsBehind: catchUp === null ? 0 : catchUp.reachedRound - catchUp.round,
      recording: recording && {
        commit: recording.recorded(),
        lag: Math.max(0, view.read.head.index - recording.recorded()),
      },
      disk: space,
    }
  })

  return {
    build,
    figures,
    current,
    uptimeSeconds,
    counters: () => ({ ...counters.counts }),
    measured,
  }
})

export type Figures = ReturnType<(typeof Metrics.Service)["figures"]>

export class Metrics extends Context.Tag("udg/Metrics")<Metrics, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(Metrics, make)
