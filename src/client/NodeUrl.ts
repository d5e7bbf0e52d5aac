/** Where a node is, as people write it. */
import { InvalidInput } from "./wire/Failures.js"

/** A node on this machine has no certificate, and nobody between. */
const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:\/.*)?$/i
const HTTP = /^https?:\/\//i
/** A host, perhaps with a port and a path. */
const HOST = /^[^\s/?#@:]+(?::\d{1,5})?(?:\/.*)?$/

const LONGEST_SHOWN = 100

/** What is wrong with it, and what to write instead. */
const advice = (text: string): string => {
  if (!HOST.test(text)) return "write http:// or https://, and a host"
  return `it has no scheme; write https://${text}, or http://${text} where nobody is in between`
}

/** Adds the scheme where it is certain. */
export const complete = (text: string): string => (LOCAL.test(text) ? `http://${text}` : text)

/** Complete, and without a slash at its end. */
export const parse = (given: string): string => {
  const text = given.trim().replace(/\/+$/, "")
  const url = complete(text)
  if (HTTP.test(url) && URL.canParse(url)) return url
  throw new InvalidInput(`${JSON.stringify(given.slice(0, LONGEST_SHOWN))} is not the URL of a node: ${advice(text)}`)
}
