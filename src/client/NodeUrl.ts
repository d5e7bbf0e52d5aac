/** URLs of nodes, as people write them. */
import { InvalidInput } from "./wire/Failures.js"

/** A node on this machine needs no certificate, since nobody is in between. */
const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:\/.*)?$/i
const HTTP = /^https?:\/\//i
/** A host, perhaps with a port and a path. */
const HOST = /^[^\s/?#@:]+(?::\d{1,5})?(?:\/.*)?$/

const LONGEST_SHOWN = 100

const advice = (text: string): string => {
  if (!HOST.test(text)) return "expected http:// or https:// and a host"
  return `add a scheme: https://${text}, or http://${text} on a trusted network`
}

/** Adds the scheme if it is certain. */
export const complete = (text: string): string => (LOCAL.test(text) ? `http://${text}` : text)

/** Adds the scheme if it is certain, and removes trailing slashes. */
export const parse = (given: string): string => {
  const text = given.trim().replace(/\/+$/, "")
  const url = complete(text)
  if (HTTP.test(url) && URL.canParse(url)) return url
  throw new InvalidInput(`${JSON.stringify(given.slice(0, LONGEST_SHOWN))} is not the URL of a node: ${advice(text)}`)
}
