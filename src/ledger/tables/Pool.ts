/**
 * One amount in which many accounts hold shares, so that paying or slashing all of them changes only the pool.
 * Invariant: the amount is 0 if and only if there are no shares.
 */
import { Either } from "effect"
import * as Sats from "../../protocol/numbers/Sats.js"

export interface Pool {
  readonly amount: Sats.Sats
  /** u128. */
  readonly shares: bigint
  /** How often the pool was slashed to 0. Shares of an earlier generation are worthless. */
  readonly generation: number
}

export interface Share {
  readonly generation: number
  readonly shares: bigint
}

export const MAX_SHARES = (1n << 128n) - 1n

export const empty: Pool = { amount: Sats.ZERO, shares: 0n, generation: 0 }

/**
 * Whether it equals a pool that never existed. A pool that lost everything does not: its dead shares must stay dead.
 */
export const isPristine = ({ shares, generation }: Pool): boolean => shares === 0n && generation === 0

/** A pool after a change. An amount without shares would belong to nobody; shares of nothing would have no price. */
const checked = (pool: Pool): Pool => {
  if ((pool.amount === 0) !== (pool.shares === 0n)) {
    throw new RangeError(`a pool of ${pool.amount} sats would have ${pool.shares} shares`)
  }
  return pool
}

export type DepositFailure =
  | "TooSmallForOneShare"
  | "TooManyShares"
  /** More shares than can exist beside the pool's amount. */
  | "AboveMaximumSupply"

/** The effect of a deposit: the pool after it, the new shares, and their cost. */
export interface Deposit {
  readonly pool: Pool
  readonly minted: bigint
  /** At most the offered amount. The rest, less than the price of one share, stays with the depositor. */
  readonly cost: Sats.Sats
}

/**
 * Mints as many whole shares as the offered amount buys, ⌊amount · shares ÷ pool⌋, or one per sat in an empty pool, and
 * takes their cost: ⌈minted · pool ÷ shares⌉. Rounding the cost up protects the other shares, and by less than a sat,
 * so the new ones are worth at least the cost less one sat. Taking the whole offer would give the rest to the other
 * holders, who can make one share as expensive as they like by coming and going with small amounts.
 */
export const deposit = (pool: Pool, offered: Sats.Sats): Either.Either<Deposit, DepositFailure> => {
  const [held, amount] = [BigInt(pool.amount), BigInt(offered)]
  const isEmpty = pool.shares === 0n
  const minted = isEmpty ? amount : Sats.mulDivBigint(amount, pool.shares, held)
  if (minted === 0n) return Either.left("TooSmallForOneShare")
  const shares = pool.shares + minted
  if (shares > MAX_SHARES) return Either.left("TooManyShares")
  const cost = isEmpty ? offered : Sats.make(Number(Sats.mulDivBigintUp(minted, held, pool.shares)))
  const sum = Sats.plus(pool.amount, cost)
  return sum === undefined
    ? Either.left("AboveMaximumSupply")
    : Either.right({ pool: checked({ ...pool, amount: sum, shares }), minted, cost })
}

/** The current value of these shares. The last ones are worth the whole remaining amount, rounding dust included. */
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
    pool: checked({ ...pool, amount: Sats.subtractBounded(pool.amount, amount), shares: pool.shares - share.shares }),
  }
}

/** Adds the amount to a pool that is not empty, which raises the value of every share. */
export const reward = (pool: Pool, amount: Sats.Sats): Pool => {
  if (pool.shares === 0n) throw new RangeError(`${amount} sats for a pool without shares`)
  return { ...pool, amount: Sats.addBounded(pool.amount, amount) }
}

/** Burns ⌊amount · percent ÷ 100⌋; a pool that loses everything begins a new generation. */
export const slash = (pool: Pool, percent: number): { readonly pool: Pool; readonly burned: Sats.Sats } => {
  const burned = Sats.percent(pool.amount, percent)
  const amount = Sats.subtractBounded(pool.amount, burned)
  if (amount > 0 || pool.shares === 0n) return { burned, pool: checked({ ...pool, amount }) }
  return { burned, pool: { amount, shares: 0n, generation: pool.generation + 1 } }
}
