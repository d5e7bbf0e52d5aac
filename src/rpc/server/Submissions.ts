/** The body of `/tx/submit`: a transaction, or an array whose entries are judged as if alone and answered in place. */
import { type Effect, Either, Exit } from "effect"
import type { Run } from "../../effect3/fibers/Run.js"
import type * as Definition from "../../effect3/http/Definition.js"
import * as Json from "../../protocol/encoding/Json.js"
import * as JsonText from "../../protocol/encoding/JsonText.js"
import type { TransactionJson } from "../../protocol/transaction/TransactionJson.js"
import * as Failure from "../api/Failure.js"
import { Accepted, maximumTransactions, Signed, type submit } from "../api/Transactions.js"
import { Batcher } from "./Batcher.js"
import * as Content from "./Content.js"
import * as Reply from "./Reply.js"
import * as RequestBody from "./RequestBody.js"

type Refused = Definition.PartsOf<typeof submit>["failure"]

export type Outcome = Either.Either<typeof Accepted.Type, Refused>

/** Takes the transactions of all requests of the moment, and answers each of them. */
export type Handle = (request: {
  readonly bodies: ReadonlyArray<TransactionJson>
}) => Effect.Effect<ReadonlyArray<Outcome>, Refused | Failure.Anyhow>

export type Submission = JsonText.OneOrMany

const OPENING_BRACKET = 0x5b

/** The largest transactions have 40 bytes for each value. */
const ARRAY: RequestBody.Limits = { bytes: 1_048_576, values: 16_384 }

export const format: RequestBody.Format<Submission> = {
  maximumBytes: ARRAY.bytes,
  limits: (first) => (first === OPENING_BRACKET ? ARRAY : RequestBody.ONE_VALUE),
  parse: (text) => JsonText.parseOneOrMany(text, "body"),
}

/** How many requests it counts as. */
export const count = (submission: Submission): number => (submission._tag === "One" ? 1 : submission.length)

/** Why an array is refused as a whole. */
export const refusalOf = (submission: Submission): Failure.InvalidRequest | undefined => {
  const length = count(submission)
  if (length >= 1 && length <= maximumTransactions) return undefined
  const message = `body: an array of 1 to ${maximumTransactions} expected, got ${length}`
  return new Failure.InvalidRequest({ message, field: "body" })
}

const decode = Json.decoder(Signed, "body")

/** The transactions of a submission, and beside them, by its place, why each other entry is none. */
interface Entries {
  readonly transactions: ReadonlyArray<TransactionJson>
  readonly refusals: ReadonlyMap<number, Failure.InvalidRequest>
}

const read = (submission: Submission): Entries => {
  const transactions: Array<TransactionJson> = []
  const refusals = new Map<number, Failure.InvalidRequest>()
  const entries = submission._tag === "One" ? [Either.right(submission.value)] : submission.entries()
  for (const [place, entry] of entries.entries()) {
    const transaction = Either.flatMap(entry, decode)
    if (Either.isRight(transaction)) transactions.push(transaction.right)
    else refusals.set(place, Failure.InvalidRequest.of(transaction.left))
  }
  return { transactions, refusals }
}

/** The outcomes of the transactions, with the refusals of the other entries in their places. */
const inPlace = ({ transactions, refusals }: Entries, outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Outcome> => {
  if (outcomes.length < transactions.length) throw new Error("the handler gave fewer answers than transactions")
  if (refusals.size === 0) return outcomes
  const all = [...outcomes]
  for (const [place, refusal] of refusals) all.splice(place, 0, Either.left(refusal))
  return all
}

const toJson = Json.encoder(Accepted)

/** The answer that it would have had alone, with its status in front. */
const inArray = (outcome: Outcome): object => {
  if (Either.isRight(outcome)) return { status_code: 200, ...toJson(outcome.right) }
  const failure = Reply.failureJson(outcome.left)
  return { status_code: failure.status, ...failure.json }
}

/** The content of the answer, or why a transaction that came alone was refused. */
const answerTo = (submission: Submission, outcomes: ReadonlyArray<Outcome>): Exit.Exit<Content.Content, Refused> => {
  if (submission._tag === "Many") return Exit.succeed(Content.json(outcomes.map(inArray)))
  const [only] = outcomes
  if (only === undefined) throw new Error("a transaction alone has one answer")
  return Exit.fromEither(Either.map(only, (accepted) => Content.json(toJson(accepted))))
}

type Answer = Exit.Exit<Content.Content, Refused | Failure.Anyhow>

export class Submissions {
  readonly #batcher: Batcher<TransactionJson, Outcome, Refused | Failure.Anyhow>

  constructor(handle: Handle, run: Run) {
    this.#batcher = new Batcher({ handle: (bodies) => handle({ bodies }), run })
  }

  /** Calls `done` once, also where handling it met a bug. */
  handle(submission: Submission, done: (answer: Answer) => void): void {
    const entries = read(submission)
    this.#batcher.add(entries.transactions, (outcomes) => {
      let answer: Answer
      try {
        answer = Exit.flatMap(outcomes, (outcomes) => answerTo(submission, inPlace(entries, outcomes)))
      } catch (defect) {
        answer = Exit.die(defect)
      }
      done(answer)
    })
  }
}
