/**
 * Edge values of numbers: zero, one, each limit with its neighbours, and the largest number of the encoding. Seeded
 * draws pick one of them, and fast-check uses them as constants. All generators of numbers share them.
 */
import { FastCheck as fc } from "effect"
import { isNatural } from "../../src/protocol/numbers/Natural.js"

export const MOST = Number.MAX_SAFE_INTEGER

/** All edge values of a field with these limits. */
export const around = (...limits: ReadonlyArray<number>): ReadonlyArray<number> => {
  const beside = limits.flatMap((limit) => [limit - 1, limit, limit + 1])
  return [...new Set([0, 1, ...beside, MOST])].filter(isNatural)
}

/** Edge values that a field from `least` to `most` can hold. */
export const within = (least: number, most: number, ...limits: ReadonlyArray<number>): ReadonlyArray<number> =>
  around(least, most, ...limits).filter((value) => value >= least && value <= most)

/** Any number that the field can hold; one in three is an edge value. */
export const arbitrary = (least: number, most: number, ...limits: ReadonlyArray<number>): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...within(least, most, ...limits)) },
    { weight: 2, arbitrary: fc.integer({ min: least, max: most }) },
  )
