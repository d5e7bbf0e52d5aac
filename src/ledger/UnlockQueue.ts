/**
 * Whoever is leaving, in the order of release: by round, by the epoch in which it left, by address. Rounding makes the
 * order matter to the last sat. An index over the accounts' `leaving`: it is no record of its own. Who stops leaving by
 * another way (its delegation died, and it delegated anew) stays in here until its turn comes and nothing is there.
 */
import type { Leaving } from "../protocol/AccountRecord.js"
import type { Epoch, Round } from "../protocol/Counter.js"
import type { Row } from "./AccountRows.js"

export interface Waiting {
  readonly row: Row
  readonly leaving: Leaving
}

type Order = (a: Row, b: Row) => number

const isBefore = (a: Leaving, b: Leaving): boolean =>
  a.unlockAtRound === b.unlockAtRound ? a.epoch < b.epoch : a.unlockAtRound < b.unlockAtRound

/** Rows in a binary heap, four bytes each: a million may leave in one epoch. */
class RowHeap {
  readonly #order: Order
  #rows = new Uint32Array(4)
  #size = 0

  constructor(order: Order) {
    this.#order = order
  }

  get size(): number {
    return this.#size
  }

  #at(index: number): Row {
    return this.#rows[index] ?? 0
  }

  push(row: Row): void {
    if (this.#size === this.#rows.length) {
      const grown = new Uint32Array(this.#size * 2)
      grown.set(this.#rows)
      this.#rows = grown
    }
    let at = this.#size++
    while (at > 0) {
      const above = (at - 1) >>> 1
      if (this.#order(this.#at(above), row) <= 0) break
      this.#rows[at] = this.#at(above)
      at = above
    }
    this.#rows[at] = row
  }

  pop(): Row | undefined {
    if (this.#size === 0) return undefined
    const first = this.#at(0)
    this.#size--
    this.#sink(this.#at(this.#size))
    return first
  }

  /** Puts this row where the first was. */
  #sink(row: Row): void {
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#size) break
      if (child + 1 < this.#size && this.#order(this.#at(child + 1), this.#at(child)) < 0) child++
      if (this.#order(row, this.#at(child)) <= 0) break
      this.#rows[at] = this.#at(child)
      at = child
    }
    this.#rows[at] = row
  }
}

interface Bucket {
  readonly leaving: Leaving
  readonly rows: RowHeap
}

export class UnlockQueue {
  readonly #order: Order
  /** By round, then epoch; never an empty one. One for every epoch within the cooldown, which may be ten thousands. */
  readonly #buckets: Array<Bucket> = []

  /** `order` is that of the rows' addresses. */
  constructor(order: Order) {
    this.#order = order
  }

  /** The position of the first bucket that is not before this one. */
  #position(leaving: Leaving): number {
    let low = 0
    let high = this.#buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const bucket = this.#buckets[middle]
      if (bucket !== undefined && isBefore(bucket.leaving, leaving)) low = middle + 1
      else high = middle
    }
    return low
  }

  add({ row, leaving }: Waiting): void {
    const position = this.#position(leaving)
    let bucket = this.#buckets[position]
    if (bucket === undefined || isBefore(leaving, bucket.leaving)) {
      bucket = { leaving, rows: new RowHeap(this.#order) }
      this.#buckets.splice(position, 0, bucket)
    }
    bucket.rows.push(row)
  }

  /** Takes out the first that is due at `round` of `epoch`: at or past its round, not before the epoch after next. */
  takeDue(round: Round, epoch: Epoch): Waiting | undefined {
    for (const [position, { leaving, rows }] of this.#buckets.entries()) {
      if (leaving.unlockAtRound > round) break
      if (leaving.epoch + 2 > epoch) continue
      const row = rows.pop()
      if (rows.size === 0) this.#buckets.splice(position, 1)
      return row === undefined ? undefined : { row, leaving }
    }
    return undefined
  }
}
