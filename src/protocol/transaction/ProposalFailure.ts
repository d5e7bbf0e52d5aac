/**
 * Why a passed proposal could not be carried out. The state holds a code, so that the words for people may change. A record that an
 * earlier version wrote holds a sentence instead.
 */

/** Every code, with its words. */
const table = [
  ["unknown_parameter", "there is no such parameter"],
  ["parameter_out_of_bounds", "the value is outside the parameter's bounds"],
  ["seat_not_held", "the account has no council seat"],
  ["seat_held", "the account has a council seat already"],
  ["no_free_seat", "all council seats are taken"],
  ["treasury_too_small", "the treasury holds less than that"],
] as const

export type ProposalFailure = (typeof table)[number][0]

const words: ReadonlyMap<string, string> = new Map(table)

/** What a record of the state says, in words. */
export const describe = (recorded: string): string => words.get(recorded) ?? recorded
