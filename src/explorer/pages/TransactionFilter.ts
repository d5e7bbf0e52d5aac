/** Which transactions the page of them shows. Its address says so, so that one can link to it. Pure. */
import { TYPE_BYTE, type Type } from "../../protocol/transaction/Operation.js"
import * as Route from "../route/Route.js"

export const types = Object.keys(TYPE_BYTE) as ReadonlyArray<Type>

export interface Filter {
  readonly type?: Type | undefined
  /** An address or a @name; what follows is for the transactions of everybody. */
  readonly account?: string | undefined
  /** In memos and proposals. */
  readonly words?: string | undefined
  /** The first day and the last one, as 2026-11-25, in the reader's time zone. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const typeOf = (text: string | null): Type | undefined => types.find((one) => one === text)

/** What is left blank filters nothing. */
export const written = (text: string | null): string | undefined => text?.trim() || undefined

export const read = (query: string): Filter => {
  const parameters = new URLSearchParams(query)
  const text = (name: string): string | undefined => written(parameters.get(name))
  return {
    ...{ type: typeOf(parameters.get("type")), account: text("account") },
    ...{ words: text("words"), from: text("from"), to: text("to") },
  }
}

type Part = readonly [name: string, value: string]

const part = (name: string, value: string | undefined): ReadonlyArray<Part> =>
  value === undefined ? [] : [[name, value]]

export const pathOf = ({ type, account, words, from, to }: Filter): string => {
  const past = account === undefined ? [...part("words", words), ...part("from", from), ...part("to", to)] : []
  return Route.transactionsOf(Object.fromEntries([...part("type", type), ...part("account", account), ...past]))
}

/** Whether it asks for what only an archive finds. */
export const isOfPast = ({ words, from, to }: Filter): boolean => [words, from, to].some((value) => value !== undefined)

/** When a day begins, or one after it; undefined for what is no day. */
const beginningOf = (day: string | undefined, daysLater: number): number | undefined => {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? "") ?? []
  const moment = new Date(Number(year), Number(month) - 1, Number(date) + daysLater).getTime()
  return moment >= 0 ? moment : undefined
}

/** The same for the node. */
export const urlParams = ({ words, ...days }: Filter) => {
  const [from, until] = [beginningOf(days.from, 0), beginningOf(days.to, 1)]
  return {
    ...(words === undefined ? {} : { words }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  }
}
