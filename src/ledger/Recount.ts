/**
 * Counts the whole supply again from the records, in any order and in as many slices as the caller likes, and compares it
 * with the running totals: at start-up over all records, at checkpoints over the leaves of the frozen state.
 */
import { Either } from "effect"
import { toHex } from "#crypto"
import * as AccountRecord from "../protocol/AccountRecord.js"
import type { Address } from "../protocol/Address.js"
import type * as Binary from "../protocol/Binary.js"
import * as Sats from "../protocol/Sats.js"
import type { StateRecord } from "../protocol/StateRecord.js"
import type { Pool } from "./Pool.js"
import type { Totals, Validator } from "./Records.js"
import * as Records from "./Records.js"
import { type Component, SupplyInvariantViolated, sumOf, zero } from "./Supply.js"

const POOLS = ["working", "leaving"] as const

/** Shares by validator, pool and generation. */
const shareKey = (validator: Address, pool: AccountRecord.PoolName, generation: number): string =>
  `${validator} ${pool} ${generation}`

export class Recount {
  #counted: { -readonly [K in keyof Totals]: Totals[K] } = { ...zero }
  readonly #shares = new Map<string, bigint>()
  readonly #pools = new Map<string, Pool>()
  #expected: Totals = zero
  #badBalance: number | undefined

  /** Takes a record as it stands in a leaf; kinds that hold no money count nothing. */
  add({ kind, key, value }: StateRecord): Either.Either<void, Binary.MalformedBytes> {
    switch (kind) {
      case "Account":
        return Either.map(AccountRecord.decode(value), (record) => this.account(record.balance, record))
      case "Validator":
        return Either.map(Records.decode(Records.validator, value), (validator) =>
          this.validator(toHex(key) as Address, validator),
        )
      case "Totals":
        return Either.map(Records.decode(Records.totals, value), (totals) => this.totals(totals))
      default:
        return Either.void
    }
  }

  account(balance: Sats.Sats, { stake, delegation }: AccountRecord.Extras): void {
    // Two wrongs may add up to a right.
    if (!Sats.isSats(balance)) this.#badBalance ??= balance
    this.#add("liquid", balance)
    if (stake !== null) this.#add("staked", stake.amount)
    if (delegation === null) return
    const key = shareKey(delegation.validator, delegation.pool, delegation.generation)
    this.#shares.set(key, (this.#shares.get(key) ?? 0n) + delegation.shares)
  }

  validator(address: Address, validator: Validator): void {
    for (const name of POOLS) {
      const pool = validator[name]
      this.#add("delegated", pool.amount)
      this.#pools.set(shareKey(address, name, pool.generation), pool)
    }
  }

  /** What the count must come to. The treasury is held nowhere else, so it is taken from here. */
  totals(expected: Totals): void {
    this.#expected = expected
  }

  #add(component: Component, amount: Sats.Sats): void {
    this.#counted[component] = (this.#counted[component] + amount) as Sats.Sats
  }

  #shareProblem(): string | undefined {
    for (const [key, pool] of this.#pools) {
      const held = this.#shares.get(key) ?? 0n
      if (held !== pool.shares) return `pool ${key} counts ${pool.shares} shares, its delegators hold ${held}`
      if ((pool.shares === 0n) !== (pool.amount === 0))
        return `pool ${key} has ${pool.shares} shares for ${pool.amount}`
    }
    return undefined
  }

  finish(): Either.Either<Totals, SupplyInvariantViolated> {
    const expected = this.#expected
    const counted = { ...this.#counted, treasury: expected.treasury }
    const found = { ...counted, total: sumOf(counted) }
    const problem = this.#problem(found, expected) ?? this.#shareProblem()
    return problem === undefined
      ? Either.right(found)
      : Either.left(new SupplyInvariantViolated({ found, expected, problem }))
  }

  #problem(found: Totals, expected: Totals): string | undefined {
    if (this.#badBalance !== undefined) return `an account has a balance of ${this.#badBalance} sats`
    if (found.liquid !== expected.liquid) return "the balances do not add up to the liquid total"
    if (found.staked !== expected.staked) return "the stakes do not add up to the staked total"
    if (found.delegated !== expected.delegated) return "the pools do not add up to the delegated total"
    if (found.total !== expected.total) return "the components do not add up to the total supply"
    return found.total > Sats.MAX_SUPPLY ? `supply above ${Sats.MAX_SUPPLY} sats` : undefined
  }
}
