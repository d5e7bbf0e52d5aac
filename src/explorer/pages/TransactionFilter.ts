/** The filter of the transactions page. It is part of the address, so that it can be linked to. Pure. */
import * as Natural from "../../protocol/numbers/Natural.js"
import { TYPE_BYTE, type Type } from "../../protocol/transaction/Operation.js"
import * as Route from "../route/Route.js"

export const types = Object.keys(TYPE_BYTE) as ReadonlyArray<Type>

export const directions = ["sent", "received"] as const
export type Direction = (typeof directions)[number]

export interface Filter {
  readonly type?: Type | undefined
  /** An address or a @name. */
  readonly account?: string | undefined
  /** From the account's perspective. */
  readonly direction?: Direction | undefined
  /** Words in memos and proposals of all accounts. */
  readonly words?: string | undefined
  /** First and last day, as 2026-11-25, in the reader's time zone. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const typeOf = (text: string | null): Type | undefined => types.find((one) => one === text)

export const directionOf = (text: string | null): Direction | undefined => directions.find((one) => one === text)

/** Blank fields do not filter. */
export const written = (text: string | null): string | undefined => text?.trim() || undefined

export const read = (query: string): Filter => {
  const parameters = new URLSearchParams(query)
  const text = (name: string): string | undefined => written(parameters.get(name))
  return {
    ...{ type: typeOf(parameters.get("type")), account: text("account") },
    direction: directionOf(parameters.get("direction")),
    ...{ words: text("words"), from: text("from"), to: text("to") },
  }
}

type Part = readonly [name: string, value: string]

const part = (name: string, value: string | undefined): ReadonlyArray<Part> =>
  value === undefined ? [] : [[name, value]]

/** A direction needs an account; words are searched in all accounts. */
export const pathOf = ({ type, account, direction, words, from, to }: Filter): string =>
  Route.transactionsOf(
    Object.fromEntries([
      ...part("type", type),
      ...part("account", account),
      ...(account === undefined ? part("words", words) : part("direction", direction)),
      ...part("from", from),
      ...part("to", to),
    ]),
  )

/** Whether it filters by time. */
export const hasDays = ({ from, to }: Filter): boolean => from !== undefined || to !== undefined

/** The start of a day, or of a later one; undefined for an invalid day. */
const beginningOf = (day: string | undefined, daysLater: number): number | undefined => {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? "") ?? []
  const moment = new Date(Number(year), Number(month) - 1, Number(date) + daysLater).getTime()
  return moment >= 0 ? moment : undefined
}

/** The filter as the node's parameters. */
export const urlParams = ({ type, account, direction, words, ...days }: Filter) => {
  const [from, until] = [beginningOf(days.from, 0), beginningOf(days.to, 1)]
  return {
    ...(type === undefined ? {} : { type }),
    ...(account === undefined || direction === undefined ? {} : { direction }),
    ...(account !== undefined || words === undefined ? {} : { words }),
    ...(from === undefined ? {} : { from: Natural.timestamp(from) }),
    ...(until === undefined ? {} : { until: Natural.timestamp(until) }),
  }
}
