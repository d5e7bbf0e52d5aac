import { Data } from "effect"
import * as Secrets from "../../node/log/Secrets.js"

/** The person at the keyboard asked for something that cannot be: one line that says what, why and what to do. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

const longest = 80

/** A user and a password in a URL. */
const credentials = /(?<=\/\/)[^/@]*(?=@)/

/** What was given, in quotes and on one line whatever it contains; not what may be a secret in the wrong place. */
export const quote = (text: string): string => {
  const given = text.replace(credentials, "…")
  if (Secrets.mayBeKey(given)) return "(not shown: it looks like a key, and a key is given as the path of its file)"
  return JSON.stringify(given.length > longest ? `${given.slice(0, longest)}…` : given)
}
