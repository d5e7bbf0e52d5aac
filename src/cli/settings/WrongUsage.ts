import { Data } from "effect"
import * as Secrets from "../../node/log/Secrets.js"

/** Invalid input by the user: one line with what was given, why it is invalid and what to do instead. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

export const wrongUsage = (message: string): WrongUsage => new WrongUsage({ message })

const longest = 80

/** User and password in a URL. */
const credentials = /(?<=\/\/)[^/@]*(?=@)/

/** Quotes a word of the command line on one line; hides it if it can be a misplaced secret. */
export const quote = (text: string): string => {
  const shown = text.replace(credentials, "…")
  if (Secrets.mayBeKey(shown)) return "(not shown: it looks like a key; use the path of the key's file instead)"
  return JSON.stringify(shown.length > longest ? `${shown.slice(0, longest)}…` : shown)
}
