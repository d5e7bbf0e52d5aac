import { Data } from "effect"
import * as Secrets from "../../node/log/Secrets.js"

/** The person at the keyboard asked for something impossible: one line that says what, why and what to do instead. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

export const wrongUsage = (message: string): WrongUsage => new WrongUsage({ message })

const longest = 80

/** A user and a password in a URL. */
const credentials = /(?<=\/\/)[^/@]*(?=@)/

/** A word of the command line in quotes and on one line, whatever it contains; hidden if it may be a misplaced secret. */
export const quote = (text: string): string => {
  const shown = text.replace(credentials, "…")
  if (Secrets.mayBeKey(shown)) return "(not shown: it looks like a key; use the path of the key's file instead)"
  return JSON.stringify(shown.length > longest ? `${shown.slice(0, longest)}…` : shown)
}
