/**
 * The numbers at which programs break: none, one, each limit with what lies beside it, and the largest that the wire
 * carries. Seeded draws pick one of them, fast-check takes them as constants; every generator of numbers has them from here.
 */
import { FastCheck as fc } from "effect"
import { isNatural } from "../../src/protocol/numbers/Natural.js"

export const MOST = Number.MAX_SAFE_INTEGER

/** All of them for a field with these limits. */
export const around = (...limits: ReadonlyArray<number>): ReadonlyArray<number> => {
  const beside = limits.flatMap((limit) => [limit - 1, limit, limit + 1])
  return [...new Set([0, 1, ...beside, MOST])].filter(isNatural)
}

/** Those that a field from `least` to `most` can hold. */
export const within = (least: number, most: number, ...limits: ReadonlyArray<number>): ReadonlyArray<number> =>
  around(least, most, ...limits).filter((value) => value >= least && value <= most)

/** Any number that the field can hold, one time in three at an edge. */
export const arbitrary = (least: number, most: number, ...limits: ReadonlyArray<number>): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...within(least, most, ...limits)) },
    { weight: 2, arbitrary: fc.integer({ min: least, max: most }) },
  )
