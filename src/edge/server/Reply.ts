/** A complete response: status, its own headers and body. Failures are turned into responses here. */
import { Option, Predicate } from "effect"
import * as Definition from "../../effect3/http/Definition.js"
import * as Json from "../../protocol/encoding/Json.js"
import { type Failure, MethodNotAllowed } from "../definition/Failure.js"
import * as Content from "./Content.js"
import type { Errors } from "./Group.js"
import * as ResponseHeaders from "./ResponseHeaders.js"

export interface Reply {
  readonly status: number
  /** In addition to those of the content. */
  readonly headers: ResponseHeaders.ResponseHeaders
  readonly content: Content.Content
}

interface Encoder {
  readonly status: number
  readonly retryAfter: number | undefined
  readonly encode: (failure: unknown) => object
}

/** By class, so that a failure is not tried against every class. */
const encoders = new WeakMap<object, Encoder>()

const encoderOf = (failure: unknown): Encoder | undefined => {
  if (!Predicate.isObject(failure)) return undefined
  const known = encoders.get(failure.constructor)
  if (known !== undefined) return known
  const made = Definition.failureClass(failure.constructor)
  if (made === undefined) return undefined
  const encoder = { status: made.status, retryAfter: made.retryAfter, encode: Json.encoder(made.schema) }
  encoders.set(failure.constructor, encoder)
  return encoder
}

/** Service errors have no status. */
export const isFailure = (error: unknown): error is Failure => encoderOf(error) !== undefined

/** The failure that a handler's error stands for; none for a bug. */
export const failureOf = (error: unknown, errors: Errors): Option.Option<Failure> => {
  if (isFailure(error)) return Option.some(error)
  const translate = Predicate.hasProperty(error, "_tag") ? errors[String(error._tag)] : undefined
  // Handlers' types allow no other error with this tag.
  return Option.filter(Option.fromNullable(translate?.(error as never)), isFailure)
}

/** When a retry makes sense, in seconds; undefined if a retry changes nothing. */
const waitOf = (failure: Failure, { retryAfter }: Encoder): number | undefined =>
  "retry_after_seconds" in failure ? Number(failure.retry_after_seconds) : retryAfter

const headersOf = (failure: Failure, encoder: Encoder): ResponseHeaders.ResponseHeaders => {
  if (failure instanceof MethodNotAllowed) return ["Allow", failure.allowed.join(", ")]
  const wait = waitOf(failure, encoder)
  return wait === undefined ? [] : ResponseHeaders.retryAfter(wait)
}

const requireEncoder = (failure: Failure): Encoder => {
  const encoder = encoderOf(failure)
  if (encoder === undefined) throw new Error(`${failure._tag} is not a failure with a status`)
  return encoder
}

/** A failure as JSON, with its status. */
export const failureJson = (failure: Failure): { readonly status: number; readonly json: object } => {
  const { status, encode } = requireEncoder(failure)
  return { status, json: encode(failure) }
}

/** The response for a failure. */
export const ofFailure = (failure: Failure): Reply => {
  const { status, json } = failureJson(failure)
  return { status, headers: headersOf(failure, requireEncoder(failure)), content: Content.json(json) }
}

/** The response as HTTP/1.1 bytes, for connections whose request was never complete. */
export const toBytes = (reply: Reply): Buffer => {
  const { status, headers, content } = reply
  const pairs = [...content.headers, ...headers, "Connection", "close"]
  const lines = pairs.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${pairs[i + 1]}`] : []))
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} \r\n${lines.join("\r\n")}\r\n\r\n`), Buffer.from(content.body)])
}
