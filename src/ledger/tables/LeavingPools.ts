/**
 * The delegations that have left and are not paid out yet: one pool for each validator and each epoch with departures,
 * made at the epoch's close from all shares that left. Nobody joins it later, so making it never fails and its shares
 * always have a price. Making it takes the same time for any number of leaving accounts.
 */
import type { Address } from "../../protocol/identity/Address.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { Pool } from "./Pool.js"
import * as Records from "./Records.js"
import { Table } from "./Table.js"

export const keyOf = (validator: Address, epoch: Natural.Epoch): string => `${validator}${StateKey.counter(epoch)}`

const ADDRESS_DIGITS = 40

export const partsOf = (key: string): readonly [Address, Natural.Epoch] => [
  key.slice(0, ADDRESS_DIGITS) as Address,
  Natural.epoch(Number.parseInt(key.slice(ADDRESS_DIGITS), 16)),
]

export class LeavingPools {
  readonly table = new Table(Records.leavingPool)
  /** The epochs of each validator's pools: an index over the table. */
  readonly #epochs = new Map<Address, Set<Natural.Epoch>>()

  get(validator: Address, epoch: Natural.Epoch): Pool | undefined {
    return this.table.get(keyOf(validator, epoch))
  }

  /** Deletes an empty pool. */
  set(validator: Address, epoch: Natural.Epoch, pool: Pool): void {
    if (pool.shares === 0n) {
      this.table.delete(keyOf(validator, epoch))
      this.#forget(validator, epoch)
    } else {
      this.table.set(keyOf(validator, epoch), pool)
      this.#know(validator, epoch)
    }
  }

  /** Drops a pool that another ledger deleted. */
  drop(key: string): void {
    this.table.drop(key)
    this.#forget(...partsOf(key))
  }

  /** A snapshot of one validator's pools, in no particular order. */
  of(validator: Address): ReadonlyArray<readonly [Natural.Epoch, Pool]> {
    return [...(this.#epochs.get(validator) ?? [])].flatMap((epoch) => {
      const pool = this.get(validator, epoch)
      return pool === undefined ? [] : [[epoch, pool] as const]
    })
  }

  *entries(): Generator<readonly [Address, Natural.Epoch, Pool]> {
    for (const [key, pool] of this.table.entries()) yield [...partsOf(key), pool]
  }

  rebuild(): void {
    for (const [validator, epoch] of this.entries()) this.#know(validator, epoch)
  }

  #know(validator: Address, epoch: Natural.Epoch): void {
    const epochs = this.#epochs.get(validator)
    if (epochs === undefined) this.#epochs.set(validator, new Set([epoch]))
    else epochs.add(epoch)
  }

  #forget(validator: Address, epoch: Natural.Epoch): void {
    const epochs = this.#epochs.get(validator)
    epochs?.delete(epoch)
    if (epochs?.size === 0) this.#epochs.delete(validator)
  }
}
