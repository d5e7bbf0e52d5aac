/**
 * The header `Host`, which HTTP/1.1 requires exactly once (RFC 9112, section 3.2): a proxy and this server could otherwise each
 * believe another one. HTTP/1.0 knows no `Host`.
 */
import type { IncomingMessage } from "node:http"
import * as Failure from "../definition/Failure.js"

const countOf = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0
  // Names and values in turn.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === "host") count++
  }
  return count
}

export const refusalOf = (request: IncomingMessage): Failure.InvalidRequest | undefined => {
  const count = countOf(request)
  if (count === 1 || (count === 0 && request.httpVersion === "1.0")) return undefined
  const message = `Host: exactly one such header expected, got ${count === 0 ? "none" : count}`
  return new Failure.InvalidRequest({ message, field: "host" })
}
