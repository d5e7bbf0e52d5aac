/**
 * Why a passed proposal could not be carried out. The state holds a code, so that the wording can change. Records of an
 * earlier version hold a sentence instead.
 */

const table = [
  ["unknown_parameter", "the parameter does not exist"],
  ["parameter_out_of_bounds", "the value is outside the parameter's bounds"],
  ["seat_not_held", "the account has no council seat"],
  ["seat_held", "the account already has a council seat"],
  ["no_free_seat", "all council seats are taken"],
  ["treasury_too_small", "the treasury holds less than the amount"],
] as const

export type ProposalFailure = (typeof table)[number][0]

const words: ReadonlyMap<string, string> = new Map(table)

/** The reason recorded in the state, in words. */
export const describe = (recorded: string): string => words.get(recorded) ?? recorded
