/** The network's figures over time: events in each step, and values at its end. */
import * as Ranges from "./Ranges.js"

/** Totals since the process began, and current values. */
export interface Reading {
  readonly transactions: number
  /** Decided here: rounds with a committed leader and rounds with a skipped one. */
  readonly rounds: number
  readonly fees: number
  /** Total milliseconds to finality, and the number of final vertices. */
  readonly finalityMs: number
  readonly finalVertices: number
  readonly supply: number
  readonly staked: number
  readonly mempool: number
}

/** A step. There are none for times when the node did not run. */
export interface Point extends Reading {
  /** The start of the step, in milliseconds since 1970. */
  readonly at: number
  /** How much of it was measured. */
  readonly ms: number
}

/** In the order of a stored point. */
export const fields = [
  "at",
  "ms",
  "transactions",
  "rounds",
  "fees",
  "finalityMs",
  "finalVertices",
  "supply",
  "staked",
  "mempool",
] as const satisfies ReadonlyArray<keyof Point>

type Mutable = { -readonly [Field in keyof Point]: Point[Field] }

const counts = ["transactions", "rounds", "fees", "finalityMs", "finalVertices"] as const

const empty = (at: number): Mutable => ({
  at,
  ms: 0,
  transactions: 0,
  rounds: 0,
  fees: 0,
  finalityMs: 0,
  finalVertices: 0,
  supply: 0,
  staked: 0,
  mempool: 0,
})

export type Kept = Readonly<Record<Ranges.Name, ReadonlyArray<Point>>>

export class Figures {
  readonly #points: Record<Ranges.Name, Array<Mutable>>
  #before: Reading

  constructor(first: Reading, kept: Kept) {
    this.#before = first
    const copied = (name: Ranges.Name) => kept[name].map((point) => ({ ...point }))
    this.#points = { hour: copied("hour"), day: copied("day"), year: copied("year") }
  }

  get points(): Kept {
    return this.#points
  }

  /** Adds the changes in the `ms` since the previous reading. */
  add(reading: Reading, ms: number, now: number): void {
    for (const name of Ranges.names) {
      const point = Ranges.pointAt(this.#points[name], Ranges.figures[name], now, empty)
      point.ms += ms
      for (const count of counts) point[count] += reading[count] - this.#before[count]
      point.supply = reading.supply
      point.staked = reading.staked
      point.mempool = reading.mempool
    }
    this.#before = reading
  }
}
