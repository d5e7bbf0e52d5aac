/**
 * Whoever is leaving, by the round at which it is released and the epoch in which it left, so that neither a commit nor
 * a close looks at anybody who is not due. An index over the accounts' `leaving`: it is no record of its own.
 */
import type { Leaving } from "../protocol/AccountRecord.js"
import type { Epoch, Round } from "../protocol/Counter.js"
import type { Row } from "./AccountRows.js"

export interface Bucket extends Leaving {
  readonly rows: Set<Row>
}

const isBefore = (a: Leaving, b: Leaving): boolean =>
  a.unlockAtRound === b.unlockAtRound ? a.epoch < b.epoch : a.unlockAtRound < b.unlockAtRound

export class UnlockQueue {
  /** By round, then epoch; never an empty one. One for every epoch within the cooldown, which may be ten thousands. */
  readonly #buckets: Array<Bucket> = []

  /** The position of the first bucket that is not before this one. */
  #position(leaving: Leaving): number {
    let low = 0
    let high = this.#buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const bucket = this.#buckets[middle]
      if (bucket !== undefined && isBefore(bucket, leaving)) low = middle + 1
      else high = middle
    }
    return low
  }

  add(row: Row, leaving: Leaving): void {
    const position = this.#position(leaving)
    const bucket = this.#buckets[position]
    if (bucket !== undefined && !isBefore(leaving, bucket)) bucket.rows.add(row)
    else this.#buckets.splice(position, 0, { ...leaving, rows: new Set([row]) })
  }

  remove(row: Row, leaving: Leaving): void {
    const position = this.#position(leaving)
    const bucket = this.#buckets[position]
    bucket?.rows.delete(row)
    if (bucket?.rows.size === 0) this.#buckets.splice(position, 1)
  }

  /** Buckets to be released at `round` of `epoch`: at or past their round, and not before the epoch after next. */
  due(round: Round, epoch: Epoch): ReadonlyArray<Bucket> {
    const due: Array<Bucket> = []
    for (const bucket of this.#buckets) {
      if (bucket.unlockAtRound > round) break
      if (bucket.epoch + 2 <= epoch) due.push(bucket)
    }
    return due
  }

  /** The rows that left in this epoch. */
  leftIn(epoch: Epoch): ReadonlyArray<Row> {
    const rows: Array<Row> = []
    for (let i = this.#buckets.length - 1; i >= 0; i--) {
      const bucket = this.#buckets[i]
      if (bucket?.epoch === epoch) for (const row of bucket.rows) rows.push(row)
    }
    return rows
  }
}
