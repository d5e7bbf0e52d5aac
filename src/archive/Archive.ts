/**
 * Records a follower's executions in PostgreSQL. The database gets each commit before the follower's own files, so
 * after any crash it holds at least what the files hold. When the follower executes a recorded commit again, it is
 * compared with the record, and later commits are added. So nothing is lost or duplicated, and two histories never mix.
 */
import { Effect, Layer, type Redacted, Schedule } from "effect"
import { fromHex, randomBytes, toHex } from "#crypto"
import { Ledger } from "../ledger/Ledger.js"
import * as HalfSipHash from "../ledger/tables/HalfSipHash.js"
import { Recording } from "../node/engine/Recording.js"
import { RecordingFailed } from "../node/lifecycle/Ending.js"
import * as Log from "../node/log/Log.js"
import { Home } from "../node/start/Home.js"
import * as Checkpoint from "../protocol/epoch/Checkpoint.js"
import * as EpochRecord from "../protocol/epoch/EpochRecord.js"
import * as Genesis from "../protocol/epoch/Genesis.js"
import * as Hash from "../protocol/identity/Hash.js"
import * as Natural from "../protocol/numbers/Natural.js"
import type { Write } from "../replica/output/Write.js"
import { type ArchiveError, DatabaseFailed, OtherHistory } from "./ArchiveError.js"
import { CommitRows, type Executed } from "./CommitRows.js"
import * as Migration from "./Migration.js"
import * as Postgres from "./Postgres.js"
import { CHANNEL, PARTITION_COMMITS, PARTITIONED } from "./Schema.js"

const log = Log.for("storage")

interface Position {
  readonly index: number
  readonly hash: string
  readonly digest: string
  readonly sequence: number
}

/** How long the follower tolerates an unreachable database before it ends. */
const PATIENCE = "60 seconds"
const AGAIN = Schedule.exponential("100 millis", 2).pipe(
  Schedule.union(Schedule.spaced("2 seconds")),
  Schedule.upTo(PATIENCE),
)

/** Retries until the database answers, unless the answer is final. */
const again = <A, R>(effect: Effect.Effect<A, ArchiveError, R>): Effect.Effect<A, ArchiveError, R> =>
  Effect.tapError(effect, ({ _tag, message }) =>
    _tag === "DatabaseFailed" ? log.warn("the database failed; trying again", { reason: message }) : Effect.void,
  ).pipe(Effect.retry({ schedule: AGAIN, while: ({ _tag }) => _tag === "DatabaseFailed" }))

const hexOf = (value: unknown): string => (value instanceof Uint8Array ? toHex(value) : "")

const positionOf = ({ rows }: Pick<Postgres.Statements, "rows">) =>
  Effect.map(
    rows("select commit_index, commit_hash, effects_digest, last_sequence from position"),
    ([row]): Position | null =>
      row === undefined
        ? null
        : { index: Number(row[0]), hash: hexOf(row[1]), digest: hexOf(row[2]), sequence: Number(row[3]) },
  )

const partition = ({ rows }: Postgres.Statements, first: number, last: number) =>
  Effect.gen(function* () {
    for (let n = Math.floor(first / PARTITION_COMMITS); n <= Math.floor(last / PARTITION_COMMITS); n++)
      for (const table of PARTITIONED)
        yield* rows(
          `create table if not exists ${table}_${n} partition of ${table}
            for values from (${n * PARTITION_COMMITS}) to (${(n + 1) * PARTITION_COMMITS})`,
        )
  })

export const genesisOf = (genesis: Genesis.Genesis): Executed => {
  const ledger = Ledger.fromGenesis(genesis, HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES)))
  const commit = {
    index: Natural.commitIndex(0),
    epoch: Natural.epoch(0),
    leaderRound: Natural.round(0),
    leaderHash: Hash.ZERO,
    previous: Hash.ZERO,
    hash: Genesis.hash(genesis),
  }
  return {
    execution: {
      commit,
      time: genesis.time,
      effectsDigest: ledger.effectsDigest,
      totals: ledger.read.totals,
      vertices: [],
      postings: genesis.allocations.map(({ address, amount }) => ({
        kind: "genesis",
        address,
        amount,
        proposalId: null,
      })),
      changes: ledger.records(),
    },
    vertices: [],
  }
}

/** Binds a new database to this network. */
const claim = (database: Postgres.Postgres, genesis: Genesis.Genesis) =>
  database.write<void>((sql) =>
    Effect.gen(function* () {
      const hash = Genesis.hash(genesis)
      yield* sql.rows("insert into network (genesis_hash, network_id) values ($1, $2) on conflict do nothing", [
        fromHex(hash),
        genesis.networkId,
      ])
      const [row = []] = yield* sql.rows("select genesis_hash, network_id from network")
      if (hexOf(row[0]) === hash) return
      const finding = `belongs to ${String(row[1])} (${hexOf(row[0])}), not to ${genesis.networkId} (${hash}); name another database`
      return yield* new OtherHistory({ place: database.place, finding })
    }),
  )

type Kept = Extract<Write, { readonly _tag: "CheckpointFinal" | "EpochStarted" }>

const keep = ({ rows }: Postgres.Statements, write: Kept) => {
  if (write._tag === "EpochStarted") {
    const { base, record } = write.opening
    return rows("insert into epochs (epoch, base, record) values ($1, $2, $3) on conflict do nothing", [
      ...[record.epoch, fromHex(base), EpochRecord.encode(record)],
    ])
  }
  const { signed } = write
  const { round, epoch, hash } = signed.checkpoint
  return rows(
    `insert into checkpoints (round, epoch, hash, is_closing, signed) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [round, epoch, fromHex(hash), Checkpoint.isClosing(signed.checkpoint), Checkpoint.encodeSigned(signed)],
  )
}

/** The commits that the database lacks. Those it has must be the same. */
const lacking = (
  database: Postgres.Postgres,
  sql: Postgres.Statements,
  held: Position | null,
  all: ReadonlyArray<Executed>,
) =>
  Effect.gen(function* () {
    const next = all.filter(({ execution }) => held === null || execution.commit.index > held.index)
    const known = all.slice(0, all.length - next.length)
    const first = known[0]?.execution.commit.index
    const rows =
      first === undefined
        ? []
        : yield* sql.rows(
            `select hash, effects_digest from commits where commit_index >= $1 order by commit_index limit $2`,
            [first, known.length],
          )
    for (const [i, { execution }] of known.entries()) {
      const isSame = hexOf(rows[i]?.[0]) === execution.commit.hash && hexOf(rows[i]?.[1]) === execution.effectsDigest
      const finding = `holds a commit ${execution.commit.index} that differs from this network's; name another database`
      if (!isSame) return yield* new OtherHistory({ place: database.place, finding })
    }
    const [follower] = next
    if (follower === undefined || held === null) return next
    const { index, previous } = follower.execution.commit
    if (index === held.index + 1 && previous === held.hash) return next
    const finding = `ends with commit ${held.index} (${held.hash}), and commit ${index} of this network does not follow it`
    return yield* new OtherHistory({ place: database.place, finding })
  })

export const append = (database: Postgres.Postgres, executed: ReadonlyArray<Executed>, kept: ReadonlyArray<Kept>) =>
  database.write<void>((sql) =>
    Effect.gen(function* () {
      const held = yield* positionOf(sql)
      const next = yield* lacking(database, sql, held, executed)
      const [first, last] = [next[0]?.execution.commit.index, next.at(-1)?.execution.commit.index]
      if (first !== undefined && last !== undefined) {
        yield* partition(sql, first, last)
        const rows = new CommitRows(held?.sequence ?? 0)
        for (const one of next) rows.add(one)
        const isMoved = yield* rows.write(sql, held?.index ?? null)
        // Two archives can fill one database: the second one compares.
        if (!isMoved)
          return yield* new DatabaseFailed({
            place: database.place,
            reason: "another archive was faster",
            advice: null,
          })
        yield* sql.rows("select pg_notify($1, $2)", [CHANNEL, String(last)])
      }
      for (const write of kept) yield* keep(sql, write)
    }),
  )

/** The database could not be reached in time, or holds something else. */
const failed = ({ message }: { readonly message: string }) => new RecordingFailed({ reason: message })

/** The follower's files must not be ahead: it does not execute their commits again. */
const requireAhead = (database: Postgres.Postgres, followerAt: number) =>
  Effect.gen(function* () {
    const held = yield* positionOf(database)
    if (held !== null && held.index >= followerAt) return held.index
    const finding =
      `ends with commit ${held?.index ?? "none"}, before commit ${followerAt} of the data directory; ` +
      "name an empty data directory to follow everything again and compare it"
    return yield* new OtherHistory({ place: database.place, finding })
  })

const make = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const { genesis } = yield* Home
    const database = yield* again(Postgres.open(url))
    yield* again(Migration.run(database))
    yield* again(claim(database, genesis))
    yield* again(append(database, [genesisOf(genesis)], []))
    let recorded = 0
    return Recording.of({
      begin: (followerAt) =>
        Effect.flatMap(again(requireAhead(database, followerAt)), (index) => {
          recorded = index
          return log.info("archiving", { database: database.place, commit: index })
        }).pipe(Effect.mapError(failed)),
      record: (writes) => {
        const executed = writes.filter((write) => write._tag === "Executed")
        const kept = writes.filter((write) => write._tag === "CheckpointFinal" || write._tag === "EpochStarted")
        if (executed.length === 0 && kept.length === 0) return Effect.void
        return again(append(database, executed, kept)).pipe(
          Effect.mapError(failed),
          Effect.tap(() => {
            recorded = Math.max(recorded, executed.at(-1)?.execution.commit.index ?? 0)
          }),
        )
      },
      recorded: () => recorded,
    })
  })

/** A follower's recording in this database, which it prepares. */
export const layer = (url: Redacted.Redacted) => Layer.scoped(Recording, make(url))
