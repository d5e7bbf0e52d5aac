/** Passes transactions on to nodes. Sending one twice is harmless: it has one hash and counts once. */
import { Array as Arr, Effect, Either, Schema } from "effect"
import { FalseAnswer, UnexpectedAnswer } from "../client/wire/Failures.js"
import { State } from "../node/reads/State.js"
import * as Network from "../protocol/identity/Network.js"
import * as JsonForm from "../protocol/transaction/JsonForm.js"
import type * as TransactionJson from "../protocol/transaction/TransactionJson.js"
import { Accepted, type SubmissionAnswers, Submitted } from "../rpc/api/Transactions.js"
import * as Forwarding from "./Forwarding.js"
import { Nodes } from "./Nodes.js"
import * as Nonces from "./Nonces.js"

type Json = TransactionJson.TransactionJson
type Outcome = Either.Either<typeof Accepted.Type, typeof Submitted.Type>
type Answered = (typeof SubmissionAnswers.Type)[number]

/** Half of a node's limit: our JSON can be longer than the sender's. */
const MOST_CHARACTERS = 500_000
const MOST_TRANSACTIONS = 1_000

/** Splits them in order into requests as large as possible. */
export const parts = (bodies: ReadonlyArray<Json>): ReadonlyArray<ReadonlyArray<Json>> => {
  const all: Array<Array<Json>> = []
  let room = 0
  for (const body of bodies) {
    const characters = JSON.stringify(body).length
    const last = all.at(-1)
    if (last === undefined || characters > room || last.length === MOST_TRANSACTIONS) {
      all.push([body])
      room = MOST_CHARACTERS - characters
    } else {
      last.push(body)
      room -= characters
    }
  }
  return all
}

const acceptance = Schema.decodeUnknownEither(Accepted)
const refusal = Schema.decodeUnknownEither(Submitted)

/** A refusal unknown to the interface comes from something that is not a node. */
const outcomeOf = (answer: Answered): Either.Either<Outcome, UnexpectedAnswer> => {
  const outcome =
    answer.status_code === 200
      ? Either.map(acceptance(answer), (accepted): Outcome => Either.right(accepted))
      : Either.map(refusal(answer), (refused): Outcome => Either.left(refused))
  return Either.mapLeft(outcome, () => new UnexpectedAnswer(200, "about a transaction, and none of this interface"))
}

export const make = Effect.gen(function* () {
  const [nodes, state] = yield* Effect.all([Nodes, State])
  const { networkId, mode } = state.genesis
  const prefix = Network.addressPrefix(mode)

  /** A transaction sent twice may have been executed in between: then its nonce is used, and it is known. */
  const settled = (body: Json, outcome: Outcome): Effect.Effect<Outcome> => {
    const transaction = JsonForm.fromJson(networkId, prefix, body)
    if (Either.isRight(outcome) || outcome.left._tag !== "NonceTooLow" || Either.isLeft(transaction))
      return Effect.succeed(outcome)
    const { id, nonce } = transaction.right
    return Effect.match(state.transaction(id), {
      onFailure: () => outcome,
      onSuccess: () => Either.right({ tx_hash: id, status: "accepted" as const, nonce }),
    })
  }

  /**
   * Fails if a refusal names an impossible nonce, so that another node is asked. The client has checked acceptances.
   */
  const requireTrue = (body: Json, outcome: Outcome) =>
    Effect.gen(function* () {
      if (Either.isRight(outcome)) return
      const { left: refusal } = outcome
      if (refusal._tag !== "NonceTooLow" && refusal._tag !== "NonceTooHigh") return
      const transaction = JsonForm.fromJson(networkId, prefix, body)
      if (Either.isLeft(transaction)) return
      const account = yield* state.account(transaction.right.from)
      if (Nonces.mayRefuse(account, transaction.right.nonce, refusal)) return
      return yield* Effect.fail(new FalseAnswer(200, `next_nonce ${refusal.next_nonce} cannot follow ${account.nonce}`))
    })

  const send = (part: ReadonlyArray<Json>) =>
    Effect.gen(function* () {
      let attempts = 0
      const ask = part.length === 1 ? nodes.ask : nodes.askPatiently
      const outcomes = yield* ask((client) =>
        Effect.gen(function* () {
          attempts++
          const answers = yield* client.transactions.submit({ payload: part })
          const outcomes = yield* Effect.forEach(answers, outcomeOf)
          // All accounts at once, which is one query to the archive.
          yield* Effect.forEach(Arr.zip(part, outcomes), ([body, outcome]) => requireTrue(body, outcome), {
            concurrency: "unbounded",
            discard: true,
          })
          return outcomes
        }),
      ).pipe(Forwarding.forwarded())
      return attempts === 1
        ? outcomes
        : yield* Effect.forEach(Arr.zip(part, outcomes), ([body, one]) => settled(body, one))
    })

  return ({ payloads }: { readonly payloads: ReadonlyArray<Json> }) =>
    Effect.map(Effect.forEach(parts(payloads), send), Arr.flatten)
})
