/**
 * Amounts of money, in the smallest unit. The maximum supply is below 2^53, so an amount is a safe integer and a JSON
 * number; products that leave that range go through an exact `mulDivFloor`.
 *
 * Sums come in two forms. `plus` is for amounts that someone else chose: it returns `undefined` outside the range, and
 * the type makes the caller handle that. The forms that end in `Bounded` are for amounts that an invariant bounds, such
 * as parts of one supply: outside the range they throw with the figures, because that is a bug.
 * `test/ledger/assertions.test.ts` lists their uses in the ledger, each with its bound.
 */
import { Option, Schema } from "effect"
import type * as Kinds from "./Kinds.js"

export type Sats = Kinds.Sats

export const SATS_PER_COIN = 100_000_000
export const ZERO = 0 as Sats
export const MAX_SUPPLY = 2_100_000_000_000_000 as Sats
export const MIN_STAKE_SATS = 200_000_000_000 as Sats

export const isSats = (value: number): value is Sats => Number.isSafeInteger(value) && value >= 0 && value <= MAX_SUPPLY

/** For figures that the program computed: an invalid one is a bug. Outside input goes through `schema` or a codec. */
export const make = (value: number): Sats => {
  if (!isSats(value)) throw new RangeError(`not an amount of sats: ${value}`)
  // -0 would be written as 0 and compared as 0, but `Object.is` and test snapshots tell it apart.
  return (value === 0 ? 0 : value) as Sats
}

/** a + b; undefined above the maximum supply. */
export const plus = (a: Sats, b: Sats): Sats | undefined => {
  const sum = a + b
  return sum > MAX_SUPPLY ? undefined : (sum as Sats)
}

/** a + b, where an invariant keeps the sum within the maximum supply. */
export const addBounded = (a: Sats, b: Sats): Sats => {
  const sum = plus(a, b)
  if (sum === undefined) throw new RangeError(`${a} + ${b} sats is above the maximum supply`)
  return sum
}

/** a - b, where an invariant keeps b at or below a. */
export const subtractBounded = (a: Sats, b: Sats): Sats => {
  if (b > a) throw new RangeError(`${a} - ${b} sats is below zero`)
  return (a - b) as Sats
}

/** The sum of amounts that an invariant keeps within the maximum supply. */
export const sumBounded = (amounts: Iterable<Sats>): Sats => {
  let total = ZERO
  for (const amount of amounts) total = addBounded(total, amount)
  return total
}

export const min = (a: Sats, b: Sats): Sats => (a < b ? a : b)
export const max = (a: Sats, b: Sats): Sats => (a > b ? a : b)

/** ⌊a ÷ b⌋ of non-negative safe integers, exactly. */
export const divideFloor = (a: number, b: number): number => {
  if (!(b > 0)) throw new RangeError(`${a} ÷ ${b}: the divisor must be positive`)
  // The remainder is exact in IEEE arithmetic, and the difference is a multiple of b, so no rounding can happen.
  return (a - (a % b)) / b
}

/** ⌊a · b ÷ c⌋ of non-negative safe integers, exactly, even if the product needs more than 53 bits. */
export const mulDivFloor = (a: number, b: number, c: number): number => {
  const product = a * b
  if (product <= Number.MAX_SAFE_INTEGER) return divideFloor(product, c)
  if (!(c > 0)) throw new RangeError(`${a} · ${b} ÷ ${c}: the divisor must be positive`)
  const quotient = Number((BigInt(a) * BigInt(b)) / BigInt(c))
  if (!Number.isSafeInteger(quotient)) throw new RangeError(`${a} · ${b} ÷ ${c} is above 2^53 - 1`)
  return quotient
}

/** ⌊a · b ÷ c⌋ of non-negative integers of any size: the shares of a pool need more than 53 bits. */
export const mulDivBigint = (a: bigint, b: bigint, c: bigint): bigint => (a * b) / c

/** ⌈a · b ÷ c⌉ of non-negative integers of any size. */
export const mulDivBigintUp = (a: bigint, b: bigint, c: bigint): bigint => (a * b + c - 1n) / c

/** ⌊amount · numerator ÷ denominator⌋, where an invariant keeps the numerator at or below the denominator. */
export const partBounded = (amount: Sats, numerator: number, denominator: number): Sats =>
  make(mulDivFloor(amount, numerator, denominator))

/** ⌊amount · percentage ÷ 100⌋. Every percentage that a decoder, a genesis or a vote accepts is at most 100. */
export const percent = (amount: Sats, percentage: number): Sats => partBounded(amount, percentage, 100)

/**
 * For the `*_coin` fields of the HTTP interface. One correctly rounded division: neighbouring doubles around the
 * maximum supply in coins are 4e-9 apart, so the number prints with exactly the eight decimals it means.
 */
export const toCoin = (amount: Sats): number => amount / SATS_PER_COIN

/** `"12.5"`: exact, without trailing zeros. A plain number, since a sum of amounts can exceed the supply. */
export const formatCoin = (amount: number): string => {
  const fraction = amount % SATS_PER_COIN
  const whole = divideFloor(amount, SATS_PER_COIN).toString()
  return fraction === 0 ? whole : `${whole}.${fraction.toString().padStart(8, "0").replace(/0+$/, "")}`
}

/** Reads an amount typed by a person: digits, and at most eight decimals. None for anything else. */
export const parseCoin = (text: string): Option.Option<Sats> => {
  const match = /^(\d{1,8})(?:\.(\d{1,8}))?$/.exec(text)
  if (match === null) return Option.none()
  const value = Number(match[1]) * SATS_PER_COIN + Number((match[2] ?? "").padEnd(8, "0"))
  return isSats(value) ? Option.some(value) : Option.none()
}

const ABOUT = "an amount in sats (1 coin = 100,000,000 sats)"

/** A JSON number that is an amount: never a string, never a fraction, never coerced. */
const amount = (): Schema.Schema<Sats, number> =>
  Schema.Number.pipe(
    Schema.filter((value): value is Sats => isSats(value) && !Object.is(value, -0), {
      identifier: "Sats",
      title: "Sats",
      description: ABOUT,
      jsonSchema: { type: "integer", minimum: 0, maximum: MAX_SUPPLY, description: ABOUT },
      message: () => `an integer number of sats from 0 to ${MAX_SUPPLY}`,
    }),
  )

export const schema = /* @__PURE__ */ amount()
