/** The network's metrics over time as chart lines. Pure. */
import * as Sats from "../../protocol/numbers/Sats.js"
import type { Past } from "../live/MetricsHistory.js"
import * as Words from "../show/Words.js"
import * as Course from "./Course.js"

export interface Figure {
  readonly title: string
  readonly of: (past: Past) => Course.Of
  readonly write: (value: number) => string
  readonly fromZero: boolean
}

const scaled =
  (of: Course.Of, factor: number): Course.Of =>
  (first, end) => {
    const value = of(first, end)
    return value === null ? null : value * factor
  }

const perSecond = (value: number): string => (value >= 100 ? Words.count(value) : value.toFixed(value >= 10 ? 0 : 1))

export const someCoins = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }).format
export const manyCoins = new Intl.NumberFormat("en", { maximumFractionDigits: 0 }).format

const SECONDS_PER_HOUR = 3_600

export const transactions: Figure = {
  title: "Transactions per second",
  of: (past) => Course.rate(past.transactions, past.measured_ms),
  write: perSecond,
  fromZero: true,
}

export const finality: Figure = {
  title: "Time to finality, seconds",
  of: (past) => scaled(Course.mean(past.finality_ms), 1 / 1_000),
  write: (value) => value.toFixed(2),
  fromZero: true,
}

export const rounds: Figure = {
  title: "Rounds per second",
  of: (past) => Course.rate(past.rounds, past.measured_ms),
  write: perSecond,
  fromZero: true,
}

export const mempool: Figure = {
  title: "Pending transactions",
  of: (past) => Course.level(past.mempool_size),
  write: (value) => (Number.isInteger(value) ? Words.count(value) : value.toFixed(1)),
  fromZero: true,
}

export const all: ReadonlyArray<Figure> = [
  transactions,
  finality,
  rounds,
  {
    title: "Fees, UDG per hour",
    of: (past) => scaled(Course.rate(past.fees, past.measured_ms), SECONDS_PER_HOUR / Sats.SATS_PER_COIN),
    write: someCoins,
    fromZero: true,
  },
  {
    title: "Supply, UDG",
    of: (past) => scaled(Course.level(past.total_supply), 1 / Sats.SATS_PER_COIN),
    write: manyCoins,
    fromZero: false,
  },
  {
    title: "Staked, UDG",
    of: (past) => scaled(Course.level(past.total_staked), 1 / Sats.SATS_PER_COIN),
    write: manyCoins,
    fromZero: false,
  },
  mempool,
]
