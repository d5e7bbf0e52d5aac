/**
 * Who holds living shares of which validator's pools. An index over the accounts' delegations, for reads; it decides
 * nothing.
 */
import type { Delegation, PoolName } from "../protocol/AccountRecord.js"
import type { Address } from "../protocol/Address.js"
import type { Row } from "./AccountRows.js"

type Holders = { readonly [P in PoolName]: Set<Row> }

const nobody: Holders = { working: new Set(), leaving: new Set() }

export class Delegators {
  readonly #byValidator = new Map<Address, Holders>()

  of(validator: Address): Holders {
    return this.#byValidator.get(validator) ?? nobody
  }

  countOf(validator: Address): number {
    const { working, leaving } = this.of(validator)
    return working.size + leaving.size
  }

  add(row: Row, { validator, pool }: Delegation): void {
    let holders = this.#byValidator.get(validator)
    if (holders === undefined) {
      holders = { working: new Set(), leaving: new Set() }
      this.#byValidator.set(validator, holders)
    }
    holders[pool].add(row)
  }

  remove(row: Row, { validator, pool }: Delegation): void {
    const holders = this.#byValidator.get(validator)
    if (holders === undefined) return
    holders[pool].delete(row)
    if (holders.working.size + holders.leaving.size === 0) this.#byValidator.delete(validator)
  }

  /** The pool lost everything: its shares are dead. */
  clear(validator: Address, pool: PoolName): void {
    this.#byValidator.get(validator)?.[pool].clear()
  }
}
