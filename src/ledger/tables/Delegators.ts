/**
 * The holders of living shares in each validator's pools. An index over the accounts' delegations, for reads only. Each
 * group is a list linked through the rows of its accounts, so joining, leaving and emptying a group take constant time
 * at any size.
 *
 * Invariant: a row is in the list of the group whose number is in its GROUP word, unless that list was dropped. Numbers
 * are never reused, so rows of a dropped list belong to none.
 */

import type { Address } from "../../protocol/identity/Address.js"
import type { Delegation } from "../../protocol/state/AccountRecord.js"
import { NONE, type Row } from "./AccountRows.js"

/** The group of delegators that have not left; others are under the epoch in which they left. */
export const STAYING = 0

const groupOf = ({ leaving }: Delegation): number => leaving?.epoch ?? STAYING

/** Position of an iteration over all delegators of a validator while they come and go. */
export interface Walk {
  readonly validator: Address
  group: number
  next: Row
}

/** Less than any group's number. */
const NO_GROUP = 0

interface Group {
  readonly number: number
  first: Row
  size: number
}

/** Words of a row: its group, and row + 1 of each neighbour in the list. */
const GROUP = 0
const NEXT = 1
const PREVIOUS = 2
const WORDS = 3

const BLOCK_BITS = 10
const BLOCK_ROWS = 1 << BLOCK_BITS

export class Delegators {
  readonly #byValidator = new Map<Address, Map<number, Group>>()
  /** Allocated only for blocks with a row that has ever delegated. */
  readonly #blocks: Array<Uint32Array | undefined> = []
  readonly #walks = new Set<Walk>()
  #groups = 0

  countOf(validator: Address): number {
    let count = 0
    for (const { size } of this.#byValidator.get(validator)?.values() ?? []) count += size
    return count
  }

  /** Starts an iteration over all of a validator's delegators, to be continued to its end with `step`. */
  walk(validator: Address): Walk {
    const walk: Walk = { validator, group: NO_GROUP, next: NONE }
    this.#walks.add(walk)
    return walk
  }

  /** The next row; `NONE` at the end. Only a delegator that changes groups meanwhile can come twice. */
  step(walk: Walk): Row {
    while (walk.next === NONE) {
      const group = this.#groupAfter(walk)
      if (group === undefined) {
        this.#walks.delete(walk)
        return NONE
      }
      walk.group = group.number
      walk.next = group.first
    }
    const row = walk.next
    walk.next = this.#word(row, NEXT) - 1
    return row
  }

  /** In the order of numbers, so that groups created since the last step are included. */
  #groupAfter({ validator, group }: Walk): Group | undefined {
    let nearest: Group | undefined
    for (const each of this.#byValidator.get(validator)?.values() ?? [])
      if (each.number > group && (nearest === undefined || each.number < nearest.number)) nearest = each
    return nearest
  }

  /** Moves a row from one delegation to another; within the same group it keeps its place. */
  change(row: Row, before: Delegation | null, after: Delegation | null): void {
    const keepsGroup = before?.validator === after?.validator && before?.leaving?.epoch === after?.leaving?.epoch
    if (before !== null && (after === null || !keepsGroup)) this.#remove(row, before)
    if (after !== null) this.#add(row, after)
  }

  #add(row: Row, delegation: Delegation): void {
    const group = this.#group(delegation)
    if (this.#word(row, GROUP) === group.number) return
    this.#setWord(row, GROUP, group.number)
    this.#setWord(row, PREVIOUS, 0)
    this.#setWord(row, NEXT, group.first + 1)
    if (group.first !== NONE) this.#setWord(group.first, PREVIOUS, row + 1)
    group.first = row
    group.size++
  }

  #remove(row: Row, delegation: Delegation): void {
    const group = this.#byValidator.get(delegation.validator)?.get(groupOf(delegation))
    if (group === undefined || this.#word(row, GROUP) !== group.number) return
    const next = this.#word(row, NEXT) - 1
    for (const walk of this.#walks) if (walk.group === group.number && walk.next === row) walk.next = next
    const previous = this.#word(row, PREVIOUS) - 1
    if (next !== NONE) this.#setWord(next, PREVIOUS, previous + 1)
    if (previous !== NONE) this.#setWord(previous, NEXT, next + 1)
    else group.first = next
    this.#setWord(row, GROUP, 0)
    group.size--
    if (group.size === 0) this.clear(delegation.validator, groupOf(delegation))
  }

  /** Drops the delegators that stay, or those that left in this epoch, because their shares are dead. */
  clear(validator: Address, group: number): void {
    const groups = this.#byValidator.get(validator)
    const dropped = groups?.get(group)?.number
    // Rows of a dropped list can join other groups at any time.
    for (const walk of this.#walks) if (walk.group === dropped) walk.next = NONE
    groups?.delete(group)
    if (groups?.size === 0) this.#byValidator.delete(validator)
  }

  #group(delegation: Delegation): Group {
    const { validator } = delegation
    let groups = this.#byValidator.get(validator)
    if (groups === undefined) {
      groups = new Map()
      this.#byValidator.set(validator, groups)
    }
    let group = groups.get(groupOf(delegation))
    if (group === undefined) {
      group = { number: ++this.#groups, first: NONE, size: 0 }
      groups.set(groupOf(delegation), group)
    }
    return group
  }

  #word(row: Row, at: number): number {
    return this.#blocks[row >>> BLOCK_BITS]?.[(row & (BLOCK_ROWS - 1)) * WORDS + at] ?? 0
  }

  #setWord(row: Row, at: number, value: number): void {
    let block = this.#blocks[row >>> BLOCK_BITS]
    if (block === undefined) {
      block = new Uint32Array(BLOCK_ROWS * WORDS)
      this.#blocks[row >>> BLOCK_BITS] = block
    }
    block[(row & (BLOCK_ROWS - 1)) * WORDS + at] = value
  }
}
