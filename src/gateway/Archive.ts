/**
 * A gateway's view of an archive's database. Its answers never reflect a later commit than `asOf` reports afterwards,
 * so a client that takes this number to another gateway finds nothing older there.
 */
import { Context, Deferred, Duration, Effect, Either, Layer, type Redacted, Schedule, Stream } from "effect"
import { type ArchiveError, DatabaseFailed, OtherHistory } from "../archive/ArchiveError.js"
import * as Migration from "../archive/Migration.js"
import * as Postgres from "../archive/Postgres.js"
import { CHANNEL } from "../archive/Schema.js"
import { UpgradeNeeded } from "../node/lifecycle/Ending.js"
import * as Log from "../node/log/Log.js"
import { Unanswered } from "../node/reads/Lookup.js"
import * as EpochRecord from "../protocol/epoch/EpochRecord.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as ProtocolVersion from "../protocol/epoch/ProtocolVersion.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Coalescing from "./Coalescing.js"
import * as Column from "./Column.js"

const log = Log.for("storage")

/** A read that takes longer is given up. */
const PATIENCE = Duration.seconds(5)
/** For reads that the gateway itself needs. */
const MORE_PATIENCE = Duration.seconds(60)
/** For reads of the gateway's own state. */
const SHORT_PATIENCE = Duration.seconds(1)
/** The archive is checked every second; after this much silence it counts as not answering. */
const LONGEST_SILENCE_MS = 3_000
/** For connections without notifications, as through a pooler. */
const LOOK_EVERY = Duration.seconds(1)
const LISTEN_AGAIN = Schedule.spaced(Duration.seconds(1))
/** More than one client's readers, so that no client can take them all. */
const CONNECTIONS = 20
/** Text searches can be slow, so they get only some of the connections. */
const SEARCHES = 4

const slow = new Unanswered({
  message: "the archive did not answer in time; ask again in a moment, or for less",
  retryAfterSeconds: 2,
})

const away = new Unanswered({ message: "the archive does not answer; ask again in a moment", retryAfterSeconds: 2 })

/** The reason goes to the log. Clients do not see it, since it names the machines behind the gateway. */
const told = <A>(read: Effect.Effect<A, ArchiveError | UpgradeNeeded | Unanswered>): Effect.Effect<A, Unanswered> =>
  Effect.catchAll(read, (error) => {
    if (error instanceof Unanswered) return error
    if (error instanceof UpgradeNeeded) return away
    return Effect.zipRight(log.warn("a read of the archive failed", { reason: error.message }), away)
  })

type Reads<A> = (sql: Postgres.Statements) => Effect.Effect<A, DatabaseFailed>

interface Position {
  readonly commit: number
  readonly round: Natural.Round
  readonly epoch: Natural.Epoch
}

export class Archive extends Context.Tag("udg/gateway/Archive")<
  Archive,
  {
    /** The last commit that the archive is known to have. */
    readonly asOf: () => number
    readonly finalizedRound: () => Natural.Round
    /** The epoch of that commit. */
    readonly epoch: () => Natural.Epoch
    /** Fails once the archive has begun an epoch by a protocol version that this program does not know. */
    readonly outdated: Effect.Effect<never, UpgradeNeeded>
    /** Fails within a second if the archive does not answer, or at once if that is known. */
    readonly isThere: Effect.Effect<void, Unanswered>
    readonly read: <A>(reads: Reads<A>) => Effect.Effect<A, Unanswered>
    /** Runs reads on one view of the database. */
    readonly snapshot: <A>(reads: Reads<A>) => Effect.Effect<A, Unanswered>
    /** The same, for up to a minute. For the gateway's own needs, never for a client. */
    readonly thorough: <A>(reads: Reads<A>) => Effect.Effect<A, Unanswered>
    /** The same for slow reads, of which only a few run at a time. */
    readonly search: <A>(reads: Reads<A>) => Effect.Effect<A, Unanswered>
    readonly reached: (commit: number) => Effect.Effect<void>
  }
>() {}

const requireNetwork = (database: Postgres.Postgres, genesis: Genesis.Genesis) =>
  Effect.gen(function* () {
    const [row = []] = yield* database.rows("select genesis_hash, network_id from network")
    if (row.length === 0)
      return yield* new OtherHistory({ place: database.place, finding: "is empty; start udg archive with it first" })
    const [held, own] = [Column.hash(row, 0), Genesis.hash(genesis)]
    if (held === own) return
    const finding = `belongs to ${Column.text(row, 1)} (${held}), not to ${genesis.networkId} (${own}); name the right genesis`
    return yield* new OtherHistory({ place: database.place, finding })
  })

const POSITION = `select commit_index, leader_round, epoch, (select max(epoch) from epochs)
  from position join commits using (commit_index)`
const OPENING = "select record from epochs where epoch = $1"

const make = (url: Redacted.Redacted, genesis: Genesis.Genesis) =>
  Effect.gen(function* () {
    const database = yield* Postgres.open(url, CONNECTIONS)
    // However busy the others are, this connection tracks the archive's position, and so whether it answers.
    const watch = yield* Postgres.open(url, 1)
    const searches = yield* Effect.makeSemaphore(SEARCHES)
    yield* Migration.require(database)
    yield* requireNetwork(database, genesis)
    let position: Position = { commit: -1, round: Natural.round(0), epoch: Natural.epoch(0) }
    /** The newest epoch whose rules this program knows. */
    let known = Natural.epoch(0)
    const waiting = new Set<() => void>()
    const inTime = <A, E, Late>(effect: Effect.Effect<A, E>, duration: Duration.Duration, late: Late) =>
      // The caller gets its answer in time, even if the server does not react to a cancel.
      Effect.timeoutFail(Effect.disconnect(effect), { duration, onTimeout: () => late })
    const silent = new DatabaseFailed({ place: database.place, reason: "no answer within five seconds", advice: null })
    let heardAt = 0
    /** Data written by other rules could be misread, so the position stays before them. */
    const requireKnown = (epoch: Natural.Epoch) =>
      Effect.gen(function* () {
        if (epoch <= known) return
        const [row] = yield* inTime(watch.rows(OPENING, [epoch]), PATIENCE, silent)
        // After a failover to a replica, the second query can find less than the first.
        const record = row === undefined ? undefined : EpochRecord.decode(Column.bytes(row, 0))
        if (record === undefined || Either.isLeft(record)) {
          const reason = `it has no readable record of epoch ${epoch}`
          return yield* new DatabaseFailed({ place: database.place, reason, advice: null })
        }
        const { protocolVersion: version } = record.right.rules
        const newest = ProtocolVersion.NEWEST
        if (version > newest) return yield* new UpgradeNeeded({ epoch, version, newest })
        known = epoch
      })
    const looking = yield* Coalescing.make(() =>
      Effect.gen(function* () {
        const [row = []] = yield* inTime(watch.rows(POSITION), PATIENCE, silent)
        yield* requireKnown(Natural.epoch(Column.nullable(row, 3, Column.integer) ?? known))
        heardAt = performance.now()
        const commit = Column.integer(row, 0)
        // Never backwards: after a failover to a replica, the database can be behind for a moment.
        if (commit <= position.commit) return
        position = {
          commit,
          round: Natural.round(Column.integer(row, 1)),
          epoch: Natural.epoch(Column.integer(row, 2)),
        }
        const woken = [...waiting]
        waiting.clear()
        for (const wake of woken) wake()
      }),
    )
    const look = looking(undefined)
    yield* look
    const outdated = yield* Deferred.make<never, UpgradeNeeded>()
    const heard = Effect.catchAll(look, (error) =>
      error._tag === "UpgradeNeeded"
        ? Deferred.fail(outdated, error)
        : log.warn("the archive does not answer", { reason: error.message }),
    )
    yield* Effect.forkScoped(
      Effect.retry(
        Stream.runForEach(watch.listen(CHANNEL), () => heard),
        LISTEN_AGAIN,
      ),
    )
    yield* Effect.forkScoped(Effect.repeat(heard, Schedule.spaced(LOOK_EVERY)))
    const counted = <A>(reads: Effect.Effect<A, ArchiveError>, duration = PATIENCE) =>
      told(Effect.zipLeft(inTime(reads, duration, slow), look))
    const snapshot = <A>(reads: Reads<A>, duration = PATIENCE) => database.snapshot(reads, Duration.toMillis(duration))
    return Archive.of({
      asOf: () => position.commit,
      finalizedRound: () => position.round,
      epoch: () => position.epoch,
      outdated: Deferred.await(outdated),
      isThere: Effect.suspend(() =>
        performance.now() - heardAt < LONGEST_SILENCE_MS ? inTime(told(look), SHORT_PATIENCE, away) : away,
      ),
      read: (reads) => counted(reads(database)),
      snapshot: (reads) => counted(snapshot(reads)),
      thorough: (reads) => counted(snapshot(reads, MORE_PATIENCE), MORE_PATIENCE),
      search: (reads) => counted(searches.withPermits(1)(snapshot(reads))),
      reached: (commit) =>
        Effect.async<void>((resume) => {
          const see = () => {
            if (position.commit >= commit) resume(Effect.void)
            else waiting.add(see)
          }
          see()
          return Effect.sync(() => waiting.delete(see))
        }),
    })
  })

export const layer = (url: Redacted.Redacted, genesis: Genesis.Genesis) => Layer.scoped(Archive, make(url, genesis))
