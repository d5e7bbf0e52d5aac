/** A whole answer, ready to be written: status, headers of its own, body. Failures are made into one here. */
import * as Definition from "../../effect3/http/Definition.js"
import * as Json from "../../protocol/encoding/Json.js"
import * as Failure from "../api/Failure.js"
import * as Content from "./Content.js"
import * as ResponseHeaders from "./ResponseHeaders.js"

export interface Reply {
  readonly status: number
  /** In addition to those of the content. */
  readonly headers: ResponseHeaders.ResponseHeaders
  readonly content: Content.Content
}

interface Encoder {
  readonly status: number
  readonly encode: (failure: unknown) => object
}

/** By code, so that a failure is not tried against every class there is. */
const encoders: ReadonlyMap<string, Encoder> = new Map(
  Definition.failures(Failure.schema).map(({ identifier, status, schema }) => [
    identifier,
    { status, encode: Json.encoder(schema) },
  ]),
)

const encoderOf = (code: string): Encoder => {
  const encoder = encoders.get(code)
  if (encoder === undefined) throw new Error(`no failure has the code ${code}`)
  return encoder
}

/** When it makes sense to ask again, in seconds; none where asking again changes nothing. */
const patienceFor = (failure: Failure.Failure): number | undefined => {
  if ("retry_after_seconds" in failure) return failure.retry_after_seconds
  switch (failure._tag) {
    case "MempoolFull":
      return 1
    case "NotReady":
    case "ShuttingDown":
      return 5
    default:
      return undefined
  }
}

const headersOf = (failure: Failure.Failure): ResponseHeaders.ResponseHeaders => {
  if (failure._tag === "MethodNotAllowed") return ["Allow", failure.allowed.join(", ")]
  const patience = patienceFor(failure)
  return patience === undefined ? [] : ResponseHeaders.retryAfter(patience)
}

/** A failure as JSON, with the status that it is answered with. */
export const failureJson = (failure: Failure.Failure): { readonly status: number; readonly json: object } => {
  const { status, encode } = encoderOf(failure._tag)
  return { status, json: encode(failure) }
}

/** The answer that a failure is. */
export const ofFailure = (failure: Failure.Failure): Reply => {
  const { status, json } = failureJson(failure)
  return { status, headers: headersOf(failure), content: Content.json(json) }
}

/** The same as bytes of HTTP/1.1, for connections whose request never became one. */
export const toBytes = (reply: Reply): Buffer => {
  const { status, headers, content } = reply
  const pairs = [...content.headers, ...headers, "Connection", "close"]
  const lines = pairs.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${pairs[i + 1]}`] : []))
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} \r\n${lines.join("\r\n")}\r\n\r\n`), Buffer.from(content.body)])
}
