/** Natural numbers of the protocol: rounds, nonces, epochs, indices, ids, times. From 0 to 2^53 − 1, one brand each. */
import { Schema } from "effect"
import type * as Kinds from "./Kinds.js"

export type Round = Kinds.Round
export type Nonce = Kinds.Nonce
export type Epoch = Kinds.Epoch
export type CommitIndex = Kinds.CommitIndex
export type ProposalId = Kinds.ProposalId
/** Milliseconds since 1970, by a validator's clock; at most `LATEST`. */
export type Timestamp = Kinds.Timestamp

export type Natural = Round | Nonce | Epoch | CommitIndex | ProposalId | Timestamp

/** The last millisecond of the year 9999, in UTC: every calendar, database and language can show it. */
export const LATEST = 253_402_300_799_999

export const isNatural = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

export const isTimestamp = (value: number): value is Timestamp => isNatural(value) && value <= LATEST

/** For numbers that the program itself computed. */
export const make = <A extends Natural>(value: number): A => {
  if (!isNatural(value)) throw new RangeError(`not a natural number: ${value}`)
  return value as A
}

export const round = (value: number): Round => make(value)
export const nonce = (value: number): Nonce => make(value)
export const epoch = (value: number): Epoch => make(value)
export const commitIndex = (value: number): CommitIndex => make(value)
export const proposalId = (value: number): ProposalId => make(value)
export const timestamp = (value: number): Timestamp => {
  if (!isTimestamp(value)) throw new RangeError(`not a time: ${value}`)
  return value
}

/** The nearest valid time, for a clock that may be set to anything. */
export const nearestTimestamp = (ms: number): Timestamp => timestamp(Math.min(Math.max(0, ms), LATEST))

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && value >= min && value <= max && !Object.is(value, -0)

/** A JSON number that is an integer in these bounds: never a string, a fraction or -0, never coerced. */
export const between = (min: number, max: number, description: string): Schema.Schema<number> =>
  Schema.Number.pipe(
    Schema.filter((value) => isWithin(value, min, max), {
      title: description,
      description,
      jsonSchema: { type: "integer", minimum: min, maximum: max, description },
      message: () => `an integer from ${min} to ${max === Number.MAX_SAFE_INTEGER ? "2^53 - 1" : max}`,
    }),
  )

/** Any integer that the wire can carry. */
export const count = (description: string): Schema.Schema<number> => between(0, Number.MAX_SAFE_INTEGER, description)

/** A time that the protocol allows. */
export const time = (description: string): Schema.Schema<Timestamp, number> =>
  between(0, LATEST, description).pipe(Schema.filter(isTimestamp))

export const schema = <A extends Exclude<Natural, Timestamp>>(description: string): Schema.Schema<A, number> =>
  count(description).pipe(Schema.filter((value): value is A => isNatural(value)))
