/**
 * Who holds living shares of which validator's pools. An index over the accounts' delegations, for reads; it decides
 * nothing. Each group is a list that runs through the rows of its accounts, so joining, leaving and emptying a group are
 * one step each, whether ten are in it or millions.
 *
 * Invariant: a row is in the list of the group whose number stands in its GROUP word and whose list was not dropped.
 * Numbers are never used again, so who stood in a dropped list is in none.
 */
import type { Delegation } from "../protocol/AccountRecord.js"
import type { Address } from "../protocol/Address.js"
import { NONE, type Row } from "./AccountRows.js"

/** Of those who have not left; others stand under the epoch in which they left. */
export const STAYING = 0

const groupOf = ({ leaving }: Delegation): number => leaving?.epoch ?? STAYING

interface Group {
  readonly number: number
  first: Row
  size: number
}

/** Words of a row: its group, and row + 1 of its neighbours in the list. */
const GROUP = 0
const NEXT = 1
const PREVIOUS = 2
const WORDS = 3

const BLOCK_BITS = 10
const BLOCK_ROWS = 1 << BLOCK_BITS

export class Delegators {
  readonly #byValidator = new Map<Address, Map<number, Group>>()
  /** Only for blocks of rows of which one ever delegated. */
  readonly #blocks: Array<Uint32Array | undefined> = []
  #groups = 0

  countOf(validator: Address): number {
    let count = 0
    for (const { size } of this.#byValidator.get(validator)?.values() ?? []) count += size
    return count
  }

  *of(validator: Address): Generator<Row> {
    for (const { first } of this.#byValidator.get(validator)?.values() ?? []) {
      for (let row = first; row !== NONE; row = this.#word(row, NEXT) - 1) yield row
    }
  }

  add(row: Row, delegation: Delegation): void {
    const group = this.#group(delegation)
    if (this.#word(row, GROUP) === group.number) return
    this.#setWord(row, GROUP, group.number)
    this.#setWord(row, PREVIOUS, 0)
    this.#setWord(row, NEXT, group.first + 1)
    if (group.first !== NONE) this.#setWord(group.first, PREVIOUS, row + 1)
    group.first = row
    group.size++
  }

  remove(row: Row, delegation: Delegation): void {
    const group = this.#byValidator.get(delegation.validator)?.get(groupOf(delegation))
    if (group === undefined || this.#word(row, GROUP) !== group.number) return
    const next = this.#word(row, NEXT) - 1
    const previous = this.#word(row, PREVIOUS) - 1
    if (next !== NONE) this.#setWord(next, PREVIOUS, previous + 1)
    if (previous !== NONE) this.#setWord(previous, NEXT, next + 1)
    else group.first = next
    this.#setWord(row, GROUP, 0)
    group.size--
    if (group.size === 0) this.clear(delegation.validator, groupOf(delegation))
  }

  /** Those who stay, or those who left in this epoch, hold nothing any more: their shares are dead. */
  clear(validator: Address, group: number): void {
    const groups = this.#byValidator.get(validator)
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
