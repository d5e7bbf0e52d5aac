/** Reading a body within its limits: declared as JSON, not too large, valid UTF-8, and JSON indeed. */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Either } from "effect"
import type { JsonProblem } from "../../protocol/encoding/JsonProblem.js"
import * as JsonText from "../../protocol/encoding/JsonText.js"
import type { Budget } from "../admission/Budget.js"
import type { TurnScheduler } from "../admission/TurnScheduler.js"
import * as Access from "../api/Access.js"
import * as Failure from "../api/Failure.js"
import * as WrongField from "./WrongField.js"

export type Refusal = Failure.InvalidRequest | Failure.BodyTooLarge | Failure.UnsupportedMediaType | Failure.Overloaded

const JSON_TYPE = /^application\/json\s*(;|$)/i
const OPENING_BRACKET = 0x5b
const WHITESPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** What is read and thrown away of a refused body, before the connection is cut. */
const DISCARDED_BYTES = 4 * Access.batchBytes

/** What a request takes besides its body's bytes while that waits to be read. */
const WAITING_BYTES = 1_024

const tooLarge = (limit: number) =>
  new Failure.BodyTooLarge({ message: `the body is larger than ${limit} bytes`, limit })

/**
 * What stands against a body before any of it has come. The larger size counts where an array may come, because what
 * comes is not known before its first character.
 */
export const refusalOf = (request: IncomingMessage, mayBeArray: boolean): Refusal | undefined => {
  const type = request.headers["content-type"]
  if (type === undefined || !JSON_TYPE.test(type)) {
    return new Failure.UnsupportedMediaType({ message: "the header Content-Type: application/json is expected" })
  }
  if (request.headers["content-encoding"] !== undefined) {
    return new Failure.UnsupportedMediaType({ message: "a body without Content-Encoding is expected" })
  }
  const limit = mayBeArray ? Access.batchBytes : Access.bodyBytes
  return Number(request.headers["content-length"] ?? 0) > limit ? tooLarge(limit) : undefined
}

const invalid = (message: string) => new Failure.InvalidRequest({ message, field: "body" })

/** An array where an endpoint takes one; what is wrong with an entry is that entry's own matter. */
export class Batch {
  readonly length: number
  readonly #entries: () => ReadonlyArray<Either.Either<unknown, JsonProblem>>

  constructor(length: number, entries: () => ReadonlyArray<Either.Either<unknown, JsonProblem>>) {
    this.length = length
    this.#entries = entries
  }

  get entries(): ReadonlyArray<Either.Either<unknown, Failure.InvalidRequest>> {
    return this.#entries().map((entry) => Either.mapLeft(entry, WrongField.toInvalidRequest))
  }
}

const firstCharacter = (bytes: Buffer): number | undefined => bytes.find((byte) => !WHITESPACE.has(byte))

const parse = (bytes: Buffer, mayBeArray: boolean): Either.Either<unknown, Refusal> => {
  if (bytes.length === 0) return Either.left(invalid("body: a JSON object expected, got nothing"))
  if (!isUtf8(bytes)) return Either.left(invalid("body: JSON in UTF-8 expected"))
  const text = bytes.toString("utf8")
  const limit = mayBeArray && firstCharacter(bytes) === OPENING_BRACKET ? Access.batchValues : Access.bodyValues
  if (JsonText.hasMoreValues(text, limit)) return Either.left(invalid(`body: more than ${limit} values in it`))
  if (!mayBeArray) return Either.mapLeft(JsonText.parse(text, "body"), WrongField.toInvalidRequest)
  return Either.mapBoth(JsonText.parseOneOrMany(text, "body"), {
    onLeft: WrongField.toInvalidRequest,
    onRight: (parsed) => (parsed._tag === "One" ? parsed.value : new Batch(parsed.length, parsed.entries)),
  })
}

/** Lets the rest of a body that nobody wants pass by, but not for ever. */
const discard = (request: IncomingMessage): void => {
  let passed = 0
  request.removeAllListeners("data")
  request.on("data", (chunk: Buffer) => {
    passed += chunk.length
    if (passed > DISCARDED_BYTES) request.destroy()
  })
  request.resume()
}

/** Everything but the body is good for nothing any more: reads what is left of it away. */
export const refuse = (request: IncomingMessage): void => {
  if (!request.complete) discard(request)
}

export interface Options {
  readonly client: string
  readonly mayBeArray: boolean
  readonly budget: Budget
  readonly scheduler: TurnScheduler
  /** Whether a body of so many bytes may be parsed; whoever says no has answered. */
  readonly mayParse: (bytes: number) => boolean
  /** Performs a step of the way to the answer, and answers for whatever it throws. */
  readonly guard: (step: () => void) => void
}

/** Reads and parses a body that nothing stands against, then calls `done` once; not at all when the client goes away. */
export const read = (
  request: IncomingMessage,
  options: Options,
  done: (body: Either.Either<unknown, Refusal>) => void,
): void => {
  const { client, mayBeArray, budget, scheduler, mayParse, guard } = options
  const chunks: Array<Buffer> = []
  let length = 0
  let held = 0
  let limit: number | undefined = mayBeArray ? undefined : Access.bodyBytes
  let finished = false
  let isWhole = false

  const finish = (body: Either.Either<unknown, Refusal> | undefined): void => {
    if (finished) return
    finished = true
    budget.give(client, held)
    if (body !== undefined) guard(() => done(body))
  }

  const hold = (bytes: number): Refusal | undefined => {
    if (!budget.take(client, bytes)) {
      return new Failure.Overloaded({ message: "too many bodies are arriving at once", retry_after_seconds: 1 })
    }
    held += bytes
    return undefined
  }

  const take = (chunk: Buffer): Refusal | undefined => {
    const refusal = hold(chunk.length)
    if (refusal !== undefined) return refusal
    length += chunk.length
    if (limit === undefined) {
      const first = firstCharacter(chunk)
      if (first !== undefined) limit = first === OPENING_BRACKET ? Access.batchBytes : Access.bodyBytes
    }
    const allowed = limit ?? Access.bodyBytes
    if (length > allowed) return tooLarge(allowed)
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
          if (mayParse(length)) finish(parse(whole(), mayBeArray))
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
