/**
 * The supply invariant: liquid + staked + delegated + treasury = total ≤ the maximum. The two sides are kept apart: the
 * components move with every balance, stake and pool, the total only when something is minted or burned.
 */
import { Data, Either } from "effect"
import type * as AccountRecord from "../protocol/AccountRecord.js"
import type { Address } from "../protocol/Address.js"
import * as Sats from "../protocol/Sats.js"
import type { Pool } from "./Pool.js"
import type { Totals, Validator } from "./Records.js"

export type Component = "liquid" | "staked" | "delegated" | "treasury"

/** Money appeared or vanished: a bug, and the end of this process. Both sides with their figures. */
export class SupplyInvariantViolated extends Data.TaggedError("SupplyInvariantViolated")<{
  /** What the ledger holds: components as counted, and their sum. */
  readonly found: Totals
  /** What it must be. */
  readonly expected: Totals
  readonly problem: string
}> {
  override get message(): string {
    return `${this.problem}; found ${figures(this.found)}, expected ${figures(this.expected)}`
  }
}

const figures = ({ liquid, staked, delegated, treasury, total }: Totals): string =>
  `liquid ${liquid} + staked ${staked} + delegated ${delegated} + treasury ${treasury} = ${total} sats`

/** Plain addition: a sum above the maximum is exactly what the checks are there to find. */
const sumOf = ({ liquid, staked, delegated, treasury }: Omit<Totals, "total">): Sats.Sats =>
  (liquid + staked + delegated + treasury) as Sats.Sats

const zero: Totals = {
  liquid: Sats.ZERO,
  staked: Sats.ZERO,
  delegated: Sats.ZERO,
  treasury: Sats.ZERO,
  total: Sats.ZERO,
}

/** The running totals. */
export class Supply {
  #totals: { -readonly [K in keyof Totals]: Totals[K] }

  constructor(totals: Totals = zero) {
    this.#totals = { ...totals }
  }

  get totals(): Totals {
    return { ...this.#totals }
  }

  get treasury(): Sats.Sats {
    return this.#totals.treasury
  }

  get total(): Sats.Sats {
    return this.#totals.total
  }

  /** What may still be minted. */
  get room(): Sats.Sats {
    return Sats.subtract(Sats.MAX_SUPPLY, this.#totals.total)
  }

  increase(component: Component, amount: Sats.Sats): void {
    this.#totals[component] = Sats.add(this.#totals[component], amount)
  }

  decrease(component: Component, amount: Sats.Sats): void {
    this.#totals[component] = Sats.subtract(this.#totals[component], amount)
  }

  mint(amount: Sats.Sats): void {
    this.#totals.total = Sats.add(this.#totals.total, amount)
  }

  burn(amount: Sats.Sats): void {
    this.#totals.total = Sats.subtract(this.#totals.total, amount)
  }

  /** The check after every commit. */
  check(): Either.Either<void, SupplyInvariantViolated> {
    const expected = this.totals
    const sum = sumOf(expected)
    if (sum === expected.total && sum <= Sats.MAX_SUPPLY) return Either.void
    const found = { ...expected, total: sum }
    const problem = sum === expected.total ? `supply above ${Sats.MAX_SUPPLY} sats` : "the running totals do not add up"
    return Either.left(new SupplyInvariantViolated({ found, expected, problem }))
  }
}

const POOLS = ["working", "leaving"] as const

/** Shares by validator, pool and generation. */
const shareKey = (validator: Address, pool: AccountRecord.PoolName, generation: number): string =>
  `${validator} ${pool} ${generation}`

/**
 * Counts everything again from the records, in any order and in as many slices as the caller likes, and compares it with
 * the running totals: at start-up over all records, at checkpoints over the leaves of the frozen state.
 */
export class Recount {
  #counted: { -readonly [K in keyof Totals]: Totals[K] } = { ...zero }
  readonly #shares = new Map<string, bigint>()
  readonly #pools = new Map<string, Pool>()

  account({ balance, stake, delegation }: AccountRecord.AccountRecord): void {
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

  /** The treasury is held nowhere but in the totals, so it is taken from there. */
  finish(expected: Totals): Either.Either<Totals, SupplyInvariantViolated> {
    const counted = { ...this.#counted, treasury: expected.treasury }
    const found = { ...counted, total: sumOf(counted) }
    const problem = this.#problem(found, expected) ?? this.#shareProblem()
    return problem === undefined
      ? Either.right(found)
      : Either.left(new SupplyInvariantViolated({ found, expected, problem }))
  }

  #problem(found: Totals, expected: Totals): string | undefined {
    if (found.liquid !== expected.liquid) return "the balances do not add up to the liquid total"
    if (found.staked !== expected.staked) return "the stakes do not add up to the staked total"
    if (found.delegated !== expected.delegated) return "the pools do not add up to the delegated total"
    if (found.total !== expected.total) return "the components do not add up to the total supply"
    return found.total > Sats.MAX_SUPPLY ? `supply above ${Sats.MAX_SUPPLY} sats` : undefined
  }
}
