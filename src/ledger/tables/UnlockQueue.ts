/**
 * The leaving accounts in the order of release: by round, by the epoch in which they left, own stakes before
 * delegations, delegations by validator, and last by address. Because of rounding, this order matters to the last sat.
 * An index over the accounts' `leaving`, not a record. If an account stops leaving in another way (its delegation died,
 * and it delegated again), its entry stays until it is due and then finds nothing.
 */

import type { Address } from "../../protocol/identity/Address.js"
import * as Element from "../../protocol/numbers/Element.js"
import type { Epoch, Round } from "../../protocol/numbers/Natural.js"
import type { Leaving } from "../../protocol/state/AccountRecord.js"
import type { Row } from "./AccountRows.js"

export interface Waiting {
  readonly row: Row
  /** The validator that a delegation leaves; null for the account's own stake. */
  readonly validator: Address | null
  readonly leaving: Leaving
}

/** Whether delegations that left this validator in this epoch are held back. The answer is constant within an epoch. */
export type IsHeld = (validator: Address, leftIn: Epoch) => boolean

type Order = (a: Row, b: Row) => number

type Group = Pick<Waiting, "validator" | "leaving">

const isBefore = ({ leaving: a, validator: of }: Group, { leaving: b, validator: other }: Group): boolean => {
  if (a.unlockAtRound !== b.unlockAtRound) return a.unlockAtRound < b.unlockAtRound
  return a.epoch === b.epoch ? (of ?? "") < (other ?? "") : a.epoch < b.epoch
}

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
    return Element.word(this.#rows, index)
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

  /** Removes the first row; there must be one. */
  pop(): Row {
    const first = this.#at(0)
    this.#size--
    this.#sink(this.#at(this.#size))
    return first
  }

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

interface Bucket extends Group {
  readonly rows: RowHeap
}

export class UnlockQueue {
  readonly #order: Order
  /** Sorted, none empty. As many as there are leaving pools, possibly tens of thousands. */
  readonly #buckets: Array<Bucket> = []
  /** Buckets that were due and held in this epoch; otherwise each commit would examine all of them again. */
  #held: { readonly epoch: Epoch; readonly buckets: Array<Bucket> } | undefined

  /** `order` compares the addresses of two rows. */
  constructor(order: Order) {
    this.#order = order
  }

  /** The position of the first bucket that is not before this one. */
  #position(group: Group): number {
    let low = 0
    let high = this.#buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const bucket = this.#buckets[middle]
      if (bucket !== undefined && isBefore(bucket, group)) low = middle + 1
      else high = middle
    }
    return low
  }

  add({ row, validator, leaving }: Waiting): void {
    const group = { validator, leaving }
    const position = this.#position(group)
    let bucket = this.#buckets[position]
    if (bucket === undefined || isBefore(group, bucket)) {
      bucket = { ...group, rows: new RowHeap(this.#order) }
      this.#buckets.splice(position, 0, bucket)
    }
    bucket.rows.push(row)
  }

  /** Returns groups held in another epoch to their places. Nobody joins a group that is due, so its place is free. */
  #letGo(epoch: Epoch): Array<Bucket> {
    if (this.#held?.epoch === epoch) return this.#held.buckets
    for (const bucket of this.#held?.buckets ?? []) {
      const position = this.#position(bucket)
      const there = this.#buckets[position]
      if (there !== undefined && !isBefore(bucket, there)) {
        throw new Error(
          `the group of ${bucket.validator} due at round ${bucket.leaving.unlockAtRound} was joined while held`,
        )
      }
      this.#buckets.splice(position, 0, bucket)
    }
    this.#held = { epoch, buckets: [] }
    return this.#held.buckets
  }

  /** Removes the first row that is not held and due: at or past its round, and not before the epoch after next. */
  takeDue(round: Round, epoch: Epoch, isHeld: IsHeld): Waiting | undefined {
    const held = this.#letGo(epoch)
    let position = 0
    for (;;) {
      const bucket = this.#buckets[position]
      if (bucket === undefined || bucket.leaving.unlockAtRound > round) return undefined
      const { validator, leaving, rows } = bucket
      if (leaving.epoch + 2 > epoch) position++
      else if (validator !== null && isHeld(validator, leaving.epoch)) held.push(...this.#buckets.splice(position, 1))
      else {
        const row = rows.pop()
        if (rows.size === 0) this.#buckets.splice(position, 1)
        return { row, validator, leaving }
      }
    }
  }
}
