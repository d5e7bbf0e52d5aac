/** Reads a body within its limits: declared as JSON, not too large, valid UTF-8 and valid JSON. */
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Either } from "effect"
import type { JsonProblem } from "../../protocol/encoding/JsonProblem.js"
import * as JsonText from "../../protocol/encoding/JsonText.js"
import type { Budget } from "../admission/Budget.js"
import type { TurnScheduler } from "../admission/TurnScheduler.js"
import * as Failure from "../definition/Failure.js"
import type { Size } from "../definition/Rules.js"
import { Grain, Pieces } from "./Pieces.js"

const JSON_TYPE = /^application\/json\s*(;|$)/i
const CHARSETS = /;\s*charset\s*=\s*"?([^\s;"]*)/gi
const UTF_8 = /^utf-?8$/i
const WHITESPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The kind of body that an endpoint takes, and its parser. */
export interface Format<A> {
  /** The largest of its limits, because the first character is not known in advance. */
  readonly maximumBytes: number
  /** Limits by the first character that is not whitespace. */
  readonly limits: (first: number | undefined) => Size
  readonly parse: (text: string) => Either.Either<A, JsonProblem>
}

/** The largest transactions have 40 bytes per value. */
export const ONE_VALUE: Size = { bytes: 65_536, values: 1_024 }

export const oneValue: Format<unknown> = {
  maximumBytes: ONE_VALUE.bytes,
  limits: () => ONE_VALUE,
  parse: (text) => JsonText.parse(text, "body"),
}

/** How much of an unwanted body is read and discarded before the connection is cut. */
const DISCARDED_BYTES = 4_194_304
/** The minimum that a discarded piece counts as: 1,024 pieces of any size cut the connection. */
const DISCARDED_PIECE_BYTES = 4_096

/** The memory of a request besides its body, while the body arrives and waits to be read. */
const WAITING_BYTES = 1_024

export const tooLarge = (limit: number) =>
  new Failure.BodyTooLarge({ message: `the body is larger than ${limit} bytes`, limit })

/** What a request announces about its body. */
export interface Announced {
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/** The announced length; 0 if there is none. */
export const announced = ({ headers }: Announced): number => Number(headers["content-length"] ?? 0)

/** The refusal before any of a body arrives. */
export const refusalOf = (request: Announced, limit: number): Failure.Failure | undefined => {
  const type = String(request.headers["content-type"])
  if (!JSON_TYPE.test(type)) {
    return new Failure.UnsupportedMediaType({ message: "expected the header Content-Type: application/json" })
  }
  for (const [, charset = ""] of type.matchAll(CHARSETS)) {
    if (!UTF_8.test(charset)) {
      return new Failure.UnsupportedMediaType({ message: "expected a body in UTF-8, without another charset" })
    }
  }
  if (request.headers["content-encoding"] !== undefined) {
    return new Failure.UnsupportedMediaType({ message: "expected a body without Content-Encoding" })
  }
  return announced(request) > limit ? tooLarge(limit) : undefined
}

const invalid = (message: string) => new Failure.InvalidRequest({ message, field: "body" })

const firstCharacter = (bytes: Buffer): number | undefined => bytes.find((byte) => !WHITESPACE.has(byte))

const parse = <A>(bytes: Buffer, { parse }: Format<A>, limit: number): Either.Either<A, Failure.Failure> => {
  if (bytes.length === 0) return Either.left(invalid("body: expected a JSON object, got nothing"))
  if (!isUtf8(bytes)) return Either.left(invalid("body: expected JSON in UTF-8"))
  const text = bytes.toString("utf8")
  const excess = JsonText.excessOf(text, { values: limit })
  if (excess !== undefined) return Either.left(invalid(`body: ${excess} in it`))
  return Either.mapLeft(parse(text), Failure.InvalidRequest.of)
}

/** Parses a body that has arrived completely. */
export const parsed = <A>(bytes: Buffer, format: Format<A>): Either.Either<A, Failure.Failure> => {
  const { bytes: most, values } = format.limits(firstCharacter(bytes))
  return bytes.length > most ? Either.left(tooLarge(most)) : parse(bytes, format, values)
}

/** Whether an announced body is still arriving. */
export const isArriving = (request: IncomingMessage): boolean =>
  !request.complete && (request.headers["transfer-encoding"] !== undefined || announced(request) > 0)

/** Discards the rest of an unwanted body. Disconnects a client that sends too much of it, or too many pieces. */
export const discard = (request: IncomingMessage, onConfetti: () => void): void => {
  const grain = new Grain()
  let passed = 0
  request.removeAllListeners("data")
  request.on("data", (piece: Buffer) => {
    // After the connection is cut, Node.js still parses what it has read.
    if (passed > DISCARDED_BYTES) return
    grain.add(piece)
    passed += Math.max(piece.length, DISCARDED_PIECE_BYTES)
    if (passed <= DISCARDED_BYTES) return
    if (grain.isConfetti) onConfetti()
    request.destroy()
  })
  request.resume()
}

export interface Options<A> {
  readonly client: string
  readonly format: Format<A>
  readonly budget: Budget
  readonly scheduler: TurnScheduler
  /** The refusal of a body with this price, before reading on or parsing. */
  readonly refusalOfCost: (bytes: number) => Failure.Failure | undefined
  /** Runs a step of answering and handles anything that it throws. */
  readonly guard: (step: () => void) => void
  /** Called before a body is refused for its pieces. */
  readonly onConfetti: () => void
}

const inPieces = invalid("body: it comes in too many pieces of a few bytes each; send larger ones")

/** Reads and parses a body, then calls `done` once; never if the client leaves. */
export const read = <A>(
  request: IncomingMessage,
  options: Options<A>,
  done: (body: Either.Either<A, Failure.Failure>) => void,
): void => {
  const { client, format, budget, scheduler, refusalOfCost, guard, onConfetti } = options
  const pieces = new Pieces(format.maximumBytes)
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

  const take = (piece: Buffer): Failure.Failure | undefined => {
    first ??= firstCharacter(piece)
    const { bytes } = format.limits(first)
    if (pieces.grain.length + piece.length > bytes) return tooLarge(bytes)
    const refusal = hold(WAITING_BYTES + pieces.capacityWith(piece) - held)
    if (refusal !== undefined) return refusal
    pieces.add(piece)
    if (!pieces.grain.isConfetti) return refusalOfCost(pieces.grain.price)
    onConfetti()
    return inPieces
  }

  // Charged before any of the body arrives, so that starting costs something and continuing does not.
  const full = hold(WAITING_BYTES)
  if (full !== undefined) {
    finish(Either.left(full))
    return
  }
  request.on("data", (piece: Buffer) => {
    if (finished) return
    const refusal = take(piece)
    if (refusal !== undefined) finish(Either.left(refusal))
  })
  request.on("end", () => {
    isWhole = true
    if (finished) return
    scheduler.schedule(client, () => {
      if (finished) return
      guard(() => {
        try {
          finish(parse(pieces.whole, format, format.limits(first).values))
        } finally {
          finish(undefined)
        }
      })
    })
  })
  request.on("error", () => finish(undefined))
  // Also after the end, when the body can still wait for its turn.
  request.on("close", () => {
    if (!isWhole) finish(undefined)
  })
}
