/**
 * Stakes, delegations, proposals and parameters in memory: a ledger of these records and of accounts with more than a
 * balance and a nonce. Refreshed on demand after new commits, so an idle gateway does no work.
 */
import { Context, Duration, Effect, Either, Layer } from "effect"
import { randomBytes } from "#crypto"
import type { Row, Statements } from "../archive/Postgres.js"
import { Ledger } from "../ledger/Ledger.js"
import type { Reads } from "../ledger/Reads.js"
import * as HalfSipHash from "../ledger/tables/HalfSipHash.js"
import { Unanswered } from "../node/reads/Lookup.js"
import type * as Genesis from "../protocol/epoch/Genesis.js"
import * as StateKey from "../protocol/state/StateKey.js"
import { Archive } from "./Archive.js"
import * as Coalescing from "./Coalescing.js"
import * as Column from "./Column.js"

/** How long a question waits for the latest changes. */
const PATIENCE = Duration.seconds(5)

const behind = new Unanswered({
  message: "the gateway is still reading what has changed; ask again in a moment",
  retryAfterSeconds: 2,
})

export class RecordCache extends Context.Tag("udg/gateway/RecordCache")<
  RecordCache,
  {
    /** As of the last `refreshed`. */
    readonly view: { readonly read: Reads }
    /** Afterwards, the view reflects the last commit that the archive is known to have. */
    readonly refreshed: Effect.Effect<void, Unanswered>
  }
>() {}

/** Records that only the execution of commits needs. */
export const NOT_READ: ReadonlyArray<StateKey.Kind> = ["Presence", "Minted", "RecentCommit", "Slashed"]

const READ = Object.entries(StateKey.KINDS)
  .filter(([kind]) => kind !== "Account" && !NOT_READ.some((other) => other === kind))
  .map(([, { byte }]) => byte)

export const CHANGED_RECORDS =
  "select kind, key, value from records where commit_index > $1 and kind = any($2::smallint[])"
export const CHANGED_ACCOUNTS = "select address, record from accounts where has_extras and commit_index > $1"
export const GONE = `select distinct kind, key from record_states s
  where value is null and commit_index > $1 and kind = any($2::smallint[])
    and not exists (select from records r where r.kind = s.kind and r.key = s.key)`
/** An account that has become empty. */
export const EMPTIED = "select 1 from account_states where record is null and commit_index > $1 limit 1"

const placeOf = (row: Row) => {
  const kind = StateKey.kindOf(Column.integer(row, 0))
  if (kind === undefined) throw new Error(`a record of the unknown kind ${Column.integer(row, 0)}`)
  return { kind, key: Column.bytes(row, 1) }
}

const recordOf = (row: Row) => ({ ...placeOf(row), value: Column.bytes(row, 2) })

const accountOf = (row: Row) => ({ kind: "Account" as const, key: Column.bytes(row, 0), value: Column.bytes(row, 1) })

/** Finding the changes of more commits than this takes longer the more there are; reading everything does not. */
const MOST_COMMITS = 1_000

/** All changes and removals after a commit. */
const changesSince = ({ rows }: Statements, commit: number) =>
  Effect.all({
    records: Effect.map(rows(CHANGED_RECORDS, [commit, READ]), (found) => found.map(recordOf)),
    accounts: Effect.map(rows(CHANGED_ACCOUNTS, [commit]), (found) => found.map(accountOf)),
    gone: Effect.map(rows(GONE, [commit, READ]), (found) => found.map((row) => ({ ...placeOf(row), value: null }))),
    emptied: rows(EMPTIED, [commit]),
  })

const make = (genesis: Genesis.Genesis) =>
  Effect.gen(function* () {
    const archive = yield* Archive
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const load = Effect.map(
      archive.thorough((sql) =>
        Effect.all({
          position: sql.rows("select effects_digest from position"),
          records: sql.rows("select kind, key, value from records where kind = any($1::smallint[])", [READ]),
          accounts: sql.rows("select address, record from accounts where has_extras"),
        }),
      ),
      ({ position: [position = []], records, accounts }): Ledger => {
        const restoring = Ledger.restoring(genesis.protocol, tableKey)
        for (const row of [...accounts.map(accountOf), ...records.map(recordOf)])
          Either.getOrThrow(restoring.record(row))
        return Either.getOrThrow(restoring.finish(Column.hash(position, 0)))
      },
    )
    let ledger = yield* load
    const missing = () => archive.asOf() - ledger.read.head.index
    const isOld = () => missing() > 0
    /** Whether applying the changes was enough. */
    const isFollowed = Effect.map(
      Effect.suspend(() => archive.thorough((sql) => changesSince(sql, ledger.read.head.index))),
      ({ gone, records, accounts, emptied }) =>
        emptied.length === 0 && Either.getOrThrow(ledger.follow([...gone, ...records, ...accounts])),
    )
    /** Reads only the changes, except once or twice per epoch. */
    const renew = Effect.gen(function* () {
      if (missing() <= MOST_COMMITS && (yield* isFollowed)) return
      ledger = yield* load
    })
    /** Continues after the caller gives up: otherwise a gateway far behind would start over each time. */
    const renewed = yield* Coalescing.make(() => Effect.suspend(() => (isOld() ? renew : Effect.void)))
    return RecordCache.of({
      view: {
        get read() {
          return ledger.read
        },
      },
      refreshed: Effect.suspend(() =>
        isOld() ? Effect.timeoutFail(renewed(undefined), { duration: PATIENCE, onTimeout: () => behind }) : Effect.void,
      ),
    })
  })

export const layer = (genesis: Genesis.Genesis) => Layer.scoped(RecordCache, make(genesis))
