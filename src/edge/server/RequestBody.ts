/** Reading a body within its limits: declared as JSON, not too large, valid UTF-8, and JSON indeed. */
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

/** The kind of body that an endpoint takes, and how its text is read. */
export interface Format<A> {
  /** The largest size that its limits allow, since the first character is not known beforehand. */
  readonly maximumBytes: number
  /** By the first character that is no whitespace. */
  readonly limits: (first: number | undefined) => Size
  readonly parse: (text: string) => Either.Either<A, JsonProblem>
}

/** The largest transactions have 40 bytes for each value. */
export const ONE_VALUE: Size = { bytes: 65_536, values: 1_024 }

export const oneValue: Format<unknown> = {
  maximumBytes: ONE_VALUE.bytes,
  limits: () => ONE_VALUE,
  parse: (text) => JsonText.parse(text, "body"),
}

/** How much of a body that nobody wants is read and discarded before the connection is cut. */
const DISCARDED_BYTES = 4_194_304
/** The least that a piece of it counts as: 1,024 pieces cut the connection, however small they are. */
const DISCARDED_PIECE_BYTES = 4_096

/** The memory of a request besides its body's bytes, while the body arrives and waits to be read. */
const WAITING_BYTES = 1_024

export const tooLarge = (limit: number) =>
  new Failure.BodyTooLarge({ message: `the body is larger than ${limit} bytes`, limit })

/** What a request says of its body before it sends it. */
export interface Announced {
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
}

/** The length that was announced; 0 where none was. */
export const announced = ({ headers }: Announced): number => Number(headers["content-length"] ?? 0)

/** Why a body is refused before any of it has arrived. */
export const refusalOf = (request: Announced, limit: number): Failure.Failure | undefined => {
  const type = String(request.headers["content-type"])
  if (!JSON_TYPE.test(type)) {
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
  return announced(request) > limit ? tooLarge(limit) : undefined
}

const invalid = (message: string) => new Failure.InvalidRequest({ message, field: "body" })

const firstCharacter = (bytes: Buffer): number | undefined => bytes.find((byte) => !WHITESPACE.has(byte))

const parse = <A>(bytes: Buffer, { parse }: Format<A>, limit: number): Either.Either<A, Failure.Failure> => {
  if (bytes.length === 0) return Either.left(invalid("body: a JSON object expected, got nothing"))
  if (!isUtf8(bytes)) return Either.left(invalid("body: JSON in UTF-8 expected"))
  const text = bytes.toString("utf8")
  const excess = JsonText.excessOf(text, { values: limit })
  if (excess !== undefined) return Either.left(invalid(`body: ${excess} in it`))
  return Either.mapLeft(parse(text), Failure.InvalidRequest.of)
}

/** The same of a body that has arrived as a whole. */
export const parsed = <A>(bytes: Buffer, format: Format<A>): Either.Either<A, Failure.Failure> => {
  const { bytes: most, values } = format.limits(firstCharacter(bytes))
  return bytes.length > most ? Either.left(tooLarge(most)) : parse(bytes, format, values)
}

/** Whether a body was announced that has not arrived yet. */
export const isArriving = (request: IncomingMessage): boolean =>
  !request.complete && (request.headers["transfer-encoding"] !== undefined || announced(request) > 0)

/** Discards the rest of a body that nobody wants, and cuts off a client that sends too much of it, or too many pieces. */
export const discard = (request: IncomingMessage, onConfetti: () => void): void => {
  const grain = new Grain()
  let passed = 0
  request.removeAllListeners("data")
  request.on("data", (piece: Buffer) => {
    // Node has parsed what it read before the connection was cut, and goes on to the end of it.
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
  /** Why a body of this price must not be read on, or parsed. */
  readonly refusalOfCost: (bytes: number) => Failure.Failure | undefined
  /** Performs a step of the way to the answer, and answers for whatever it throws. */
  readonly guard: (step: () => void) => void
  /** Called before a body is refused because of its pieces. */
  readonly onConfetti: () => void
}

const inPieces = invalid("body: it comes in too many pieces of a few bytes each; send larger ones")

/** Reads and parses a body, then calls `done` once; never if the client goes away. */
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

  // Before any of it arrives, so that it costs something to begin and not to go on.
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
  // Also after its end, when its body may still wait for its turn.
  request.on("close", () => {
    if (!isWhole) finish(undefined)
  })
}
