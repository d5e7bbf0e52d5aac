/** The network's metrics over time from the node: each range is loaded once, then only new points. */
import * as Live from "./Live.js"
import { type Answer, node } from "./Node.js"
import { type Resource, useResource } from "./Resource.js"

export type Past = Answer<"monitoring", "history">
export type Range = Past["range"]

const known = new Map<Range, Past>()

/** `newer` begins with the last point of `older`, which was incomplete. */
const merge = (older: Past, newer: Past): Past => {
  const [first] = newer.at
  if (first === undefined) return older
  const kept = older.at.findIndex((at) => at >= first)
  const joined = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>): ReadonlyArray<A> => [
    ...before.slice(0, kept === -1 ? before.length : kept),
    ...after,
  ]
  return {
    range: newer.range,
    step_ms: newer.step_ms,
    at: joined(older.at, newer.at),
    measured_ms: joined(older.measured_ms, newer.measured_ms),
    transactions: joined(older.transactions, newer.transactions),
    rounds: joined(older.rounds, newer.rounds),
    fees: joined(older.fees, newer.fees),
    finality_ms: joined(older.finality_ms, newer.finality_ms),
    total_supply: joined(older.total_supply, newer.total_supply),
    total_staked: joined(older.total_staked, newer.total_staked),
    mempool_size: joined(older.mempool_size, newer.mempool_size),
  }
}

export const load = async (range: Range): Promise<Past> => {
  const before = known.get(range)
  const since = before?.at.at(-1)
  const newer = await node.monitoring.history({ urlParams: { range, ...(since === undefined ? {} : { since }) } })
  const past = before === undefined ? newer : merge(before, newer)
  known.set(range, past)
  return past
}

export const usePast = (range: Range): Resource<Past> => useResource(`past ${range}`, () => load(range), Live.slowBeat)
