/** Queries that only an archive can answer: balances after any commit, the richest accounts, and hourly statistics. */
import { Effect, Option } from "effect"
import { fromHex } from "#crypto"
import type { Row } from "../archive/Postgres.js"
import type * as Address from "../protocol/identity/Address.js"
import * as Natural from "../protocol/numbers/Natural.js"
import * as Sats from "../protocol/numbers/Sats.js"
import * as Failure from "../rpc/api/Failure.js"
import * as AccountReference from "../rpc/handlers/AccountReference.js"
import { group } from "../rpc/handlers/Group.js"
import { Archive } from "./Archive.js"
import * as Column from "./Column.js"

const STANDARD_PAGE = 50

/** More commits than there will be; a hundred times this still fits a PostgreSQL integer. */
const LARGEST_STEP = 2 ** 50

const HOUR_MS = 3_600_000
const HOURS_OF_DAY = 24

const milliseconds = "(extract(epoch from c.time) * 1000)::bigint"

export const CHANGES = `select s.commit_index, ${milliseconds}, s.balance, s.nonce
  from (
    select commit_index, balance, nonce from account_states where address = $1 and commit_index <= $2
    order by commit_index desc limit $3
  ) s join commits c using (commit_index) order by s.commit_index desc`

export const STEPS = `select c.commit_index, ${milliseconds}, coalesce(s.balance, 0), coalesce(s.nonce, 0)
  from generate_series(0, $3::bigint - 1) n
    join commits c on c.commit_index = least($2, (select commit_index from position)) - n * $4::bigint
    left join lateral (
      select balance, nonce from account_states where address = $1 and commit_index <= c.commit_index
      order by commit_index desc limit 1
    ) s on true
  order by c.commit_index desc`

/** Accounts as rich as the last one of the previous page, and poorer ones: one index range each. */
export const RICHEST = `select address, name, balance
  from (
    (select address, name, balance from accounts where balance = $1 and address > $2 order by address limit $3)
    union all
    (select address, name, balance from accounts where balance < $1 order by balance desc, address limit $3)
  ) a order by balance desc, address limit $3`

const sums = "sum(commits), sum(vertices), sum(transactions), sum(failed), least(sum(fees), 9007199254740991)"

export const HOURS = `select hour, ${sums}, max(total_supply) from hours where hour < $1 group by hour order by hour desc limit $2`

/** The newest hours that this many days can have. The last day may be cut off, and is one more than wanted. */
export const DAYS = `select hour / 24, ${sums}, (array_agg(total_supply order by hour desc))[1]
  from (select * from hours where hour < $1 order by hour desc limit 24 * $2) h
  group by 1 order by 1 desc limit $2`

const balanceOf = (row: Row) => ({
  commit: Natural.commitIndex(Column.integer(row, 0)),
  timestamp: Natural.timestamp(Column.integer(row, 1)),
  balance: Sats.make(Column.integer(row, 2)),
  nonce: Natural.nonce(Column.integer(row, 3)),
})

interface Rich {
  readonly address: Address.Address
  readonly balance: number
}

const cursorOf = ({ balance, address }: Rich): string => `${balance.toString(36)}.${address}`

/** Richer than any account. */
const TOP = { balance: Number.MAX_SAFE_INTEGER, address: "" }

const placeAt = (cursor: string | undefined): Option.Option<{ readonly balance: number; readonly address: string }> => {
  if (cursor === undefined) return Option.some(TOP)
  const [balance = "", text = ""] = cursor.split(".")
  const place = { balance: Number.parseInt(balance, 36), address: text as Address.Address }
  const isOurs = Natural.isNatural(place.balance) && /^[0-9a-f]{40}$/.test(text) && cursorOf(place) === cursor
  return isOurs ? Option.some(place) : Option.none()
}

const statisticOf = (row: Row, unitMs: number) => ({
  timestamp: Natural.timestamp(Column.integer(row, 0) * unitMs),
  commits: Column.integer(row, 1),
  vertices: Column.integer(row, 2),
  transactions: Column.integer(row, 3),
  failed: Column.integer(row, 4),
  fees: Column.integer(row, 5),
  total_supply: Sats.make(Column.integer(row, 6)),
})

export const layer = group("archive", (handlers) =>
  Effect.gen(function* () {
    const archive = yield* Archive
    const account = yield* AccountReference.resolver
    return handlers
      .handle("balances", ({ path, urlParams: { limit = STANDARD_PAGE, commit = Number.MAX_SAFE_INTEGER, step } }) =>
        Effect.gen(function* () {
          const address = yield* account("address", path.address)
          const more = limit + 1
          const found = yield* archive.snapshot(({ rows }) =>
            step === undefined
              ? rows(CHANGES, [fromHex(address), commit, more])
              : // So large a step leads before the genesis, as one of all commits would.
                rows(STEPS, [fromHex(address), commit, more, Math.min(step, LARGEST_STEP)]),
          )
          const balances = found.map(balanceOf)
          return { address, balances: balances.slice(0, limit), next_commit: balances[limit]?.commit ?? null }
        }),
      )
      .handle("richest", ({ urlParams: { limit = STANDARD_PAGE, cursor } }) =>
        Effect.gen(function* () {
          const place = placeAt(cursor)
          if (Option.isNone(place)) return yield* Effect.fail(Failure.badCursor)
          const found = yield* archive.snapshot(({ rows }) =>
            rows(RICHEST, [place.value.balance, fromHex(place.value.address), limit + 1]),
          )
          const accounts = found.slice(0, limit).map((row) => ({
            address: Column.address(row, 0),
            name: Column.nullable(row, 1, Column.text),
            balance: Sats.make(Column.integer(row, 2)),
          }))
          const last = accounts.at(-1)
          return { accounts, next_cursor: found.length > limit && last !== undefined ? cursorOf(last) : null }
        }),
      )
      .handle(
        "statistics",
        ({ urlParams: { limit = STANDARD_PAGE, interval = "day", until = Number.MAX_SAFE_INTEGER } }) => {
          const hours = interval === "hour" ? 1 : HOURS_OF_DAY
          const unitMs = hours * HOUR_MS
          const end = Math.ceil(until / unitMs) * hours
          return Effect.map(
            archive.snapshot(({ rows }) => rows(interval === "hour" ? HOURS : DAYS, [end, limit])),
            (found) => ({ statistics: found.map((row) => statisticOf(row, unitMs)) }),
          )
        },
      )
  }),
)
