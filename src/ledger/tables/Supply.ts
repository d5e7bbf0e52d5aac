/**
 * The supply invariant: liquid + staked + delegated + treasury = total ≤ the maximum. The two sides are kept
 * separately: the components change with every balance, stake and pool, the total only on minting and burning.
 */
import { Data, Either } from "effect"
import * as Sats from "../../protocol/numbers/Sats.js"
import type { Totals } from "./Records.js"

export type Component = "liquid" | "staked" | "delegated" | "treasury"

/** Money appeared or vanished. This is a bug and ends the process. Shows the figures of both sides. */
export class SupplyInvariantViolated extends Data.TaggedError("SupplyInvariantViolated")<{
  /** The ledger's amounts: components as counted, and their sum. */
  readonly found: Totals
  readonly expected: Totals
  readonly problem: string
}> {
  override get message(): string {
    return `${this.problem}; found ${figures(this.found)}, expected ${figures(this.expected)}`
  }
}

const figures = ({ liquid, staked, delegated, treasury, total }: Totals): string =>
  `liquid ${liquid} + staked ${staked} + delegated ${delegated} + treasury ${treasury} = ${total} sats`

/** Plain addition: the checks must be able to find a sum above the maximum. */
export const sumOf = ({ liquid, staked, delegated, treasury }: Omit<Totals, "total">): Sats.Sats =>
  (liquid + staked + delegated + treasury) as Sats.Sats

export const zero: Totals = {
  liquid: Sats.ZERO,
  staked: Sats.ZERO,
  delegated: Sats.ZERO,
  treasury: Sats.ZERO,
  total: Sats.ZERO,
}

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

  /** The amount that can still be minted. */
  get room(): Sats.Sats {
    return Sats.subtractBounded(Sats.MAX_SUPPLY, this.#totals.total)
  }

  increase(component: Component, amount: Sats.Sats): void {
    this.#totals[component] = Sats.addBounded(this.#totals[component], amount)
  }

  decrease(component: Component, amount: Sats.Sats): void {
    this.#totals[component] = Sats.subtractBounded(this.#totals[component], amount)
  }

  mint(amount: Sats.Sats): void {
    this.#totals.total = Sats.addBounded(this.#totals.total, amount)
  }

  burn(amount: Sats.Sats): void {
    this.#totals.total = Sats.subtractBounded(this.#totals.total, amount)
  }

  /** Runs after every commit. */
  check(): Either.Either<void, SupplyInvariantViolated> {
    const expected = this.totals
    const sum = sumOf(expected)
    if (sum === expected.total && sum <= Sats.MAX_SUPPLY) return Either.void
    const found = { ...expected, total: sum }
    const problem = sum === expected.total ? `supply above ${Sats.MAX_SUPPLY} sats` : "the running totals do not add up"
    return Either.left(new SupplyInvariantViolated({ found, expected, problem }))
  }
}
