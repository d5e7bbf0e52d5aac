/**
 * Many people's money under one amount: everybody holds shares, so that paying or slashing all of them touches only the
 * pool. Invariant: the amount is 0 exactly when there are no shares.
 */
import { Either } from "effect"
import * as Sats from "../protocol/Sats.js"

export interface Pool {
  readonly amount: Sats.Sats
  /** u128. */
  readonly shares: bigint
  /** Counts how often the pool was slashed to 0: shares of an older generation are worth nothing. */
  readonly generation: number
}

/** What somebody holds of a pool. */
export interface Share {
  readonly generation: number
  readonly shares: bigint
}

export const MAX_SHARES = (1n << 128n) - 1n

export const empty: Pool = { amount: Sats.ZERO, shares: 0n, generation: 0 }

/**
 * Like a pool that never was. One that lost a generation is not: dead shares must not come alive in a new pool of the
 * same validator.
 */
export const isPristine = ({ shares, generation }: Pool): boolean => shares === 0n && generation === 0

export type DepositFailure =
  | "TooSmallForOneShare"
  | "TooManyShares"
  /** More than can exist beside what the pool holds. */
  | "AboveMaximumSupply"

/** Mints ⌊amount · shares ÷ pool⌋ shares, in an empty pool one for every sat. */
export const deposit = (
  pool: Pool,
  amount: Sats.Sats,
): Either.Either<{ readonly pool: Pool; readonly minted: bigint }, DepositFailure> => {
  const minted =
    pool.shares === 0n ? BigInt(amount) : Sats.mulDivBigint(BigInt(amount), pool.shares, BigInt(pool.amount))
  if (minted === 0n) return Either.left("TooSmallForOneShare")
  const shares = pool.shares + minted
  if (shares > MAX_SHARES) return Either.left("TooManyShares")
  const sum = Sats.plus(pool.amount, amount)
  return sum === undefined
    ? Either.left("AboveMaximumSupply")
    : Either.right({ pool: { ...pool, amount: sum, shares }, minted })
}

/** What these shares are worth now. Whoever holds the last ones has all that is left, rounding dust included. */
export const worth = (pool: Pool, { generation, shares }: Share): Sats.Sats => {
  if (generation !== pool.generation) return Sats.ZERO
  if (shares === pool.shares) return pool.amount
  return Sats.make(Number(Sats.mulDivBigint(shares, BigInt(pool.amount), pool.shares)))
}

/** Takes living shares out of the pool. */
export const withdraw = (pool: Pool, share: Share): { readonly pool: Pool; readonly amount: Sats.Sats } => {
  if (share.generation !== pool.generation || share.shares > pool.shares) {
    throw new RangeError(`${share.shares} shares of generation ${share.generation} are not in the pool`)
  }
  const amount = worth(pool, share)
  return {
    amount,
    pool: { ...pool, amount: Sats.subtractBounded(pool.amount, amount), shares: pool.shares - share.shares },
  }
}

/** Every share is worth more by its part of the amount. The pool must not be empty. */
export const reward = (pool: Pool, amount: Sats.Sats): Pool => {
  if (pool.shares === 0n) throw new RangeError(`${amount} sats for a pool without shares`)
  return { ...pool, amount: Sats.addBounded(pool.amount, amount) }
}

/** Burns ⌊amount · percent ÷ 100⌋; a pool that loses everything begins a new generation. */
export const slash = (pool: Pool, percent: number): { readonly pool: Pool; readonly burned: Sats.Sats } => {
  const burned = Sats.percent(pool.amount, percent)
  const amount = Sats.subtractBounded(pool.amount, burned)
  if (amount > 0 || pool.shares === 0n) return { burned, pool: { ...pool, amount } }
  return { burned, pool: { amount, shares: 0n, generation: pool.generation + 1 } }
}
