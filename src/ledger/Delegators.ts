/**
 * Who holds living shares of which validator's pools. An index over the accounts' delegations, for reads; it decides
 * nothing.
 */
import type { Delegation } from "../protocol/AccountRecord.js"
import type { Address } from "../protocol/Address.js"
import type { Row } from "./AccountRows.js"

/** Of those who have not left; others stand under the epoch in which they left. */
export const STAYING = 0

const groupOf = ({ leaving }: Delegation): number => leaving?.epoch ?? STAYING

export class Delegators {
  readonly #byValidator = new Map<Address, Map<number, Set<Row>>>()

  countOf(validator: Address): number {
    let count = 0
    for (const { size } of this.#byValidator.get(validator)?.values() ?? []) count += size
    return count
  }

  *of(validator: Address): Generator<Row> {
    for (const rows of this.#byValidator.get(validator)?.values() ?? []) yield* rows
  }

  add(row: Row, delegation: Delegation): void {
    const { validator } = delegation
    let groups = this.#byValidator.get(validator)
    if (groups === undefined) {
      groups = new Map()
      this.#byValidator.set(validator, groups)
    }
    const rows = groups.get(groupOf(delegation))
    if (rows === undefined) groups.set(groupOf(delegation), new Set([row]))
    else rows.add(row)
  }

  remove(row: Row, delegation: Delegation): void {
    const rows = this.#byValidator.get(delegation.validator)?.get(groupOf(delegation))
    rows?.delete(row)
    if (rows?.size === 0) this.clear(delegation.validator, groupOf(delegation))
  }

  /** Those who stay, or those who left in this epoch, hold nothing any more: their shares are dead. */
  clear(validator: Address, group: number): void {
    const groups = this.#byValidator.get(validator)
    groups?.delete(group)
    if (groups?.size === 0) this.#byValidator.delete(validator)
  }
}
