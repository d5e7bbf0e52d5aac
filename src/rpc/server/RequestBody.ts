/** Reading a body within its limits: declared as JSON, not too large, valid UTF-8, and JSON indeed. */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Either } from "effect"
import type { JsonProblem } from "../../protocol/encoding/JsonProblem.js"
import * as JsonText from "../../protocol/encoding/JsonText.js"
import type { Budget } from "../admission/Budget.js"
import type { TurnScheduler } from "../admission/TurnScheduler.js"
import * as Failure from "../api/Failure.js"

const JSON_TYPE = /^application\/json\s*(;|$)/i
const CHARSETS = /;\s*charset\s*=\s*"?([^\s;"]*)/gi
const UTF_8 = /^utf-?8$/i
const WHITESPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The size limits of a body: bytes, and JSON values (objects, lists, and the values in them). */
export interface Limits {
  readonly bytes: number
  readonly values: number
}

/** The kind of body that an endpoint takes, and how its text is read. */
export interface Format<A> {
  /** The largest size that its limits allow, since the first character is not known beforehand. */
  readonly maximumBytes: number
  /** By the first character that is no whitespace. */
  readonly limits: (first: number | undefined) => Limits
  readonly parse: (text: string) => Either.Either<A, JsonProblem>
}

/** The largest transactions have 40 bytes for each value. */
export const ONE_VALUE: Limits = { bytes: 65_536, values: 1_024 }

export const oneValue: Format<unknown> = {
  maximumBytes: ONE_VALUE.bytes,
  limits: () => ONE_VALUE,
  parse: (text) => JsonText.parse(text, "body"),
}

/** How much of a refused body is read and discarded before the connection is cut. */
const DISCARDED_BYTES = 4_194_304

/** The memory of a request besides its body's bytes, while the body waits to be read. */
const WAITING_BYTES = 1_024

const tooLarge = (limit: number) =>
  new Failure.BodyTooLarge({ message: `the body is larger than ${limit} bytes`, limit })

/** Why a body is refused before any of it has arrived. */
export const refusalOf = (request: IncomingMessage, limit: number): Failure.Failure | undefined => {
  const type = request.headers["content-type"]
  if (type === undefined || !JSON_TYPE.test(type)) {
    return new Failure.UnsupportedMediaType({ message: "the header Content-Type: application/json is expected" })
  }
  for (const [, charset = ""] of type.matchAll(CHARSETS)) {
    if (!UTF_8.test(charset)) {
      return new Failure.UnsupportedMediaType({ message: "a body in UTF-8 is expected, and no other charset" })
    }
  }
  if (request.headers["content-encoding"] !== undefined) {
    return new Failure.UnsupportedMediaType({ message: "a body without Content-Encoding is expected" })
  }
  return Number(request.headers["content-length"] ?? 0) > limit ? tooLarge(limit) : undefined
}

const invalid = (message: string) => new Failure.InvalidRequest({ message, field: "body" })

const firstCharacter = (bytes: Buffer): number | undefined => bytes.find((byte) => !WHITESPACE.has(byte))

const parse = <A>(bytes: Buffer, { parse }: Format<A>, limit: number): Either.Either<A, Failure.Failure> => {
  if (bytes.length === 0) return Either.left(invalid("body: a JSON object expected, got nothing"))
  if (!isUtf8(bytes)) return Either.left(invalid("body: JSON in UTF-8 expected"))
  const text = bytes.toString("utf8")
  if (JsonText.hasMoreValues(text, limit)) return Either.left(invalid(`body: more than ${limit} values in it`))
  return Either.mapLeft(parse(text), Failure.InvalidRequest.of)
}

/** Discards the rest of a refused body, up to a limit. */
const discard = (request: IncomingMessage): void => {
  let passed = 0
  request.removeAllListeners("data")
  request.on("data", (chunk: Buffer) => {
    passed += chunk.length
    if (passed > DISCARDED_BYTES) request.destroy()
  })
  request.resume()
}

/** The request has been answered: discards the rest of its body. */
export const refuse = (request: IncomingMessage): void => {
  if (!request.complete) discard(request)
}

export interface Options<A> {
  readonly client: string
  readonly format: Format<A>
  readonly budget: Budget
  readonly scheduler: TurnScheduler
  /** Why a body of this many bytes must not be parsed. */
  readonly refusalOfCost: (bytes: number) => Failure.Failure | undefined
  /** Performs a step of the way to the answer, and answers for whatever it throws. */
  readonly guard: (step: () => void) => void
}

/** Reads and parses a body, then calls `done` once; never if the client goes away. */
export const read = <A>(
  request: IncomingMessage,
  options: Options<A>,
  done: (body: Either.Either<A, Failure.Failure>) => void,
): void => {
  const { client, format, budget, scheduler, refusalOfCost, guard } = options
  const chunks: Array<Buffer> = []
  let length = 0
  let held = 0
  let first: number | undefined
  let finished = false
  let isWhole = false

  const finish = (body: Either.Either<A, Failure.Failure> | undefined): void => {
    if (finished) return
    finished = true
    budget.give(client, held)
    if (body !== undefined) guard(() => done(body))
  }

  const hold = (bytes: number): Failure.Failure | undefined => {
    if (!budget.take(client, bytes)) {
      return new Failure.Overloaded({ message: "too many bodies are arriving at once", retry_after_seconds: 1 })
    }
    held += bytes
    return undefined
  }

  const take = (chunk: Buffer): Failure.Failure | undefined => {
    const refusal = hold(chunk.length)
    if (refusal !== undefined) return refusal
    length += chunk.length
    first ??= firstCharacter(chunk)
    const { bytes } = format.limits(first)
    if (length > bytes) return tooLarge(bytes)
    chunks.push(chunk)
    return undefined
  }

  request.on("data", (chunk: Buffer) => {
    if (finished) return
    const refusal = take(chunk)
    if (refusal !== undefined) finish(Either.left(refusal))
  })
  const whole = (): Buffer => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
  request.on("end", () => {
    isWhole = true
    if (finished) return
    const refusal = hold(WAITING_BYTES)
    if (refusal !== undefined) return finish(Either.left(refusal))
    scheduler.schedule(client, () => {
      if (finished) return
      guard(() => {
        try {
          const refusal = refusalOfCost(length)
          finish(refusal === undefined ? parse(whole(), format, format.limits(first).values) : Either.left(refusal))
        } finally {
          finish(undefined)
        }
      })
    })
  })
  request.on("error", () => finish(undefined))
  // Also after its end, when its body may still wait for its turn.
  request.on("close", () => {
    if (!isWhole) finish(undefined)
  })
}
