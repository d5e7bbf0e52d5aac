/** Bodies with one item or an array of them: each item is judged as if alone and answered in its place. */
import { type Effect, Either, Exit } from "effect"
import type { Run } from "../../effect3/fibers/Run.js"
import * as Definition from "../../effect3/http/Definition.js"
import * as Json from "../../protocol/encoding/Json.js"
import type { JsonProblem } from "../../protocol/encoding/JsonProblem.js"
import * as JsonText from "../../protocol/encoding/JsonText.js"
import * as Failure from "../definition/Failure.js"
import type * as Rules from "../definition/Rules.js"
import { Batcher } from "./Batcher.js"
import * as Content from "./Content.js"
import type { Handle } from "./Group.js"
import * as Reply from "./Reply.js"
import * as RequestBody from "./RequestBody.js"

export type Body = JsonText.OneOrMany

const OPENING_BRACKET = 0x5b

export const format = ({ size }: Rules.Batch): RequestBody.Format<Body> => ({
  maximumBytes: size.bytes,
  limits: (first) => (first === OPENING_BRACKET ? size : RequestBody.ONE_VALUE),
  parse: (text) => JsonText.parseOneOrMany(text, "body"),
})

/** The number of requests that the body counts as. */
export const count = (body: Body): number => (body._tag === "One" ? 1 : body.length)

/** The refusal of a whole array. */
export const refusalOf = (body: Body, { most }: Rules.Batch): Failure.InvalidRequest | undefined => {
  const length = count(body)
  if (length >= 1 && length <= most) return undefined
  const message = `body: expected an array of 1 to ${most}, got ${length}`
  return new Failure.InvalidRequest({ message, field: "body" })
}

/** A body's valid items, and the refusals of its other entries by their places. */
interface Entries {
  readonly items: ReadonlyArray<unknown>
  readonly refusals: ReadonlyMap<number, Failure.InvalidRequest>
}

/** The handler's result for an item. */
type Outcome = Either.Either<unknown, unknown>

const areOutcomes = (values: ReadonlyArray<unknown>): values is ReadonlyArray<Outcome> =>
  values.every((value) => Either.isEither(value))

/** Merges the items' outcomes with the refusals of the other entries, in order. */
const inPlace = ({ items, refusals }: Entries, outcomes: ReadonlyArray<unknown>): ReadonlyArray<Outcome> => {
  if (outcomes.length < items.length) throw new Error("the handler returned fewer answers than items")
  if (!areOutcomes(outcomes)) throw new Error("the handler returned something other than an answer")
  if (refusals.size === 0) return outcomes
  const all = [...outcomes]
  for (const [place, refusal] of refusals) all.splice(place, 0, Either.left(refusal))
  return all
}

export interface Options extends Rules.Batch {
  /** The status of an item's answer. */
  readonly status: number
  readonly handle: Handle
  readonly run: Run
}

export class Batches {
  readonly #status: number
  readonly #decode: (entry: unknown) => Either.Either<unknown, JsonProblem>
  readonly #toJson: (answer: unknown) => object
  readonly #batcher: Batcher<unknown, unknown, unknown>

  constructor({ item, answer, status, handle, run }: Options) {
    this.#status = status
    this.#decode = Json.decoder(Definition.untyped(item), "body")
    this.#toJson = Json.encoder(Definition.untyped(answer))
    this.#batcher = new Batcher({
      // The type promises a list. A handler that returns anything else fails as a bug when its part is taken, or below.
      handle: (payloads) => handle({ payloads }) as Effect.Effect<ReadonlyArray<unknown>, unknown>,
      run,
    })
  }

  /** Calls `done` once, also after a bug. */
  handle(body: Body, done: (answer: Exit.Exit<Content.Content, unknown>) => void): void {
    const entries = this.#read(body)
    this.#batcher.add(entries.items, (outcomes) => {
      let answer: Exit.Exit<Content.Content, unknown>
      try {
        answer = Exit.flatMap(outcomes, (outcomes) => this.#answerTo(body, inPlace(entries, outcomes)))
      } catch (defect) {
        answer = Exit.die(defect)
      }
      done(answer)
    })
  }

  #read(body: Body): Entries {
    const items: Array<unknown> = []
    const refusals = new Map<number, Failure.InvalidRequest>()
    const entries = body._tag === "One" ? [Either.right(body.value)] : body.entries()
    for (const [place, entry] of entries.entries()) {
      const item = Either.flatMap(entry, this.#decode)
      if (Either.isRight(item)) items.push(item.right)
      else refusals.set(place, Failure.InvalidRequest.of(item.left))
    }
    return { items, refusals }
  }

  /** The response's content; or the failure of an item that came alone. */
  #answerTo(body: Body, outcomes: ReadonlyArray<Outcome>): Exit.Exit<Content.Content, unknown> {
    if (body._tag === "Many") return Exit.succeed(Content.json(outcomes.map((outcome) => this.#inArray(outcome))))
    const [only] = outcomes
    if (only === undefined) throw new Error("an item alone has one answer")
    return Exit.fromEither(Either.map(only, (answer) => Content.json(this.#toJson(answer))))
  }

  /** The answer that the item would have had alone, preceded by its status. */
  #inArray(outcome: Outcome): object {
    if (Either.isRight(outcome)) return { status_code: this.#status, ...this.#toJson(outcome.right) }
    if (!Reply.isFailure(outcome.left)) throw new Error("an item was refused with something other than a failure")
    const { status, json } = Reply.failureJson(outcome.left)
    return { status_code: status, ...json }
  }
}
