/**
 * Stakes, delegations, proposals and parameters, in memory: a ledger of these records and of the accounts that have more than
 * a balance and a nonce. It is made when somebody asks and a commit has come since, so an idle gateway makes none.
 */
import { Context, Effect, Either, Layer } from "effect"
import { randomBytes } from "#crypto"
import { Ledger } from "../ledger/Ledger.js"
import type { Reads } from "../ledger/Reads.js"
import * as HalfSipHash from "../ledger/tables/HalfSipHash.js"
import type * as Genesis from "../protocol/epoch/Genesis.js"
import * as AccountRecord from "../protocol/state/AccountRecord.js"
import * as StateKey from "../protocol/state/StateKey.js"
import { Archive } from "./Archive.js"
import * as Column from "./Column.js"

export class Records extends Context.Tag("udg/gateway/Records")<
  Records,
  {
    /** As of the last `refreshed`. */
    readonly view: { readonly read: Reads }
    /** Afterwards, the view is of the last commit that the archive is known to have. */
    readonly refreshed: Effect.Effect<void>
  }
>() {}

/** Those that only the execution of commits needs. */
const NOT_READ: ReadonlyArray<StateKey.Kind> = ["Account", "Presence", "Minted", "RecentCommit", "Slashed"]

const READ = Object.entries(StateKey.KINDS)
  .filter(([kind]) => !NOT_READ.some((other) => other === kind))
  .map(([, { byte }]) => byte)

const make = (genesis: Genesis.Genesis) =>
  Effect.gen(function* () {
    const archive = yield* Archive
    const tableKey = HalfSipHash.keyFrom(randomBytes(HalfSipHash.KEY_BYTES))
    const load = Effect.map(
      archive.snapshot(({ rows }) =>
        Effect.all({
          position: rows("select effects_digest from position"),
          records: rows("select kind, key, value from records where kind = any($1::smallint[])", [READ]),
          accounts: rows("select address, record from accounts where has_extras"),
        }),
      ),
      ({ position: [position = []], records, accounts }): Ledger => {
        const restoring = Ledger.restoring(genesis.protocol, tableKey)
        for (const row of accounts)
          restoring.account(Column.address(row, 0), Either.getOrThrow(AccountRecord.decode(Column.bytes(row, 1))))
        for (const row of records) {
          const kind = StateKey.kindOf(Column.integer(row, 0))
          if (kind === undefined) throw new Error(`a record of the unknown kind ${Column.integer(row, 0)}`)
          Either.getOrThrow(restoring.record({ kind, key: Column.bytes(row, 1), value: Column.bytes(row, 2) }))
        }
        return Either.getOrThrow(restoring.finish(Column.hash(position, 0)))
      },
    )
    let ledger = yield* load
    const oneAtATime = yield* Effect.makeSemaphore(1)
    const isOld = () => ledger.read.head.index < archive.asOf()
    const renew = Effect.map(load, (loaded) => {
      ledger = loaded
    })
    return Records.of({
      view: {
        get read() {
          return ledger.read
        },
      },
      refreshed: Effect.suspend(() =>
        isOld() ? oneAtATime.withPermits(1)(Effect.suspend(() => (isOld() ? renew : Effect.void))) : Effect.void,
      ),
    })
  })

export const layer = (genesis: Genesis.Genesis) => Layer.effect(Records, make(genesis))
