/** Lists all accounts' transactions by type, time and words, newest first, at a bounded cost. */
import { Effect } from "effect"
import type { DatabaseFailed } from "../archive/ArchiveError.js"
import type { Row, Statements, Value } from "../archive/Postgres.js"
import { storable } from "../archive/Storable.js"
import type { Filter } from "../rpc/handlers/Transactions.js"
import * as Column from "./Column.js"

/** The first transaction of the commits from a time on; commit times never decrease. */
const SINCE = `select t.sequence
  from (
    select commit_index from commits where time >= to_timestamp($1::bigint / 1000.0) order by time, commit_index limit 1
  ) c, lateral (
    select sequence from transactions where commit_index >= c.commit_index order by commit_index, sequence limit 1
  ) t`

/** Beyond everything if there is none. */
export const since = ({ rows }: Statements, moment: number): Effect.Effect<number, DatabaseFailed> =>
  Effect.map(rows(SINCE, [moment]), ([row]) => (row === undefined ? Number.MAX_SAFE_INTEGER : Column.integer(row, 0)))

const HELD = "select last_sequence from position"

/** Empty, or T, for words that no index can find, such as none or only excluded ones. */
const FINDABLE = "select querytree(websearch_to_tsquery('simple', $1)) not in ('', 'T')"

/**
 * Words are searched in this many transactions first, then in ever more older ones. Otherwise PostgreSQL would sort all
 * matches of a common word before returning the newest.
 */
const FIRST_STRETCH = 50_000
const GROWTH = 8

/** The statement that finds places for this filter, and its values after the bounds and the limit. */
const statementOf = ({ type, words }: Filter): readonly [text: string, values: ReadonlyArray<Value>] => {
  const values: Array<Value> = []
  const next = (value: Value): string => `$${values.push(value) + 3}`
  const wanted = [
    ...(type === undefined ? [] : [`type = ${next(type)}`]),
    ...(words === undefined
      ? []
      : [`words <> '' and to_tsvector('simple', words) @@ websearch_to_tsquery('simple', ${next(storable(words))})`]),
  ]
  const where = ["sequence >= $1", "sequence < $2", ...wanted].join(" and ")
  return [`select commit_index, sequence from transactions where ${where} order by sequence desc limit $3`, values]
}

/** Adds the data of the places that `found` selects. */
type Complete = (found: string) => string

export const latest = (
  sql: Statements,
  complete: Complete,
  filter: Filter,
  before: number | null,
  most: number,
): Effect.Effect<ReadonlyArray<Row>, DatabaseFailed> =>
  Effect.gen(function* () {
    const { rows } = sql
    const [held] = yield* rows(HELD)
    const { from, until, words } = filter
    const first = from === undefined ? 1 : yield* since(sql, from)
    const [findable] = words === undefined ? [[true]] : yield* rows(FINDABLE, [storable(words)])
    const [text, values] = statementOf(filter)
    const query = complete(text)
    const found: Array<Row> = []
    let end = Math.min(
      before ?? Number.MAX_SAFE_INTEGER,
      held === undefined ? 1 : Column.integer(held, 0) + 1,
      until === undefined ? Number.MAX_SAFE_INTEGER : yield* since(sql, until),
    )
    if (findable?.[0] !== true) return found
    for (
      let stretch = words === undefined ? end : FIRST_STRETCH;
      end > first && found.length < most;
      stretch *= GROWTH
    ) {
      const begin = Math.max(first, end - stretch)
      found.push(...(yield* rows(query, [begin, end, most - found.length, ...values])))
      end = begin
    }
    return found
  })
