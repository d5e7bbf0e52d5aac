import { Data } from "effect"

/** The person at the keyboard asked for something that cannot be: one line that says what, why and what to do. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

const longest = 80

/** What was given, in quotes and on one line whatever it contains. */
export const quote = (given: string): string =>
  JSON.stringify(given.length > longest ? `${given.slice(0, longest)}…` : given)
