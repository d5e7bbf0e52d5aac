/** The header `traceparent` of W3C Trace Context, level 1, by which a client names its own span as a request's parent. */
import { Option } from "effect"
import type { SpanContext } from "./Ended.js"

/**
 * Later versions can append fields: not many, because the ids keep the whole header in memory. Node.js joins repeated
 * headers with commas, which no form contains, so a repeated header counts as malformed.
 */
const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[^,]{0,200})?$/
const SAMPLED = 0x01

/** None for a missing or malformed header, which is ignored. */
export const parse = (header: string | ReadonlyArray<string> | undefined): Option.Option<SpanContext> => {
  if (typeof header !== "string") return Option.none()
  const [, version, traceId, spanId, flags, more] = FORM.exec(header) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return Option.none()
  if (version === "00" && more !== undefined) return Option.none()
  return Option.some({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 })
}
