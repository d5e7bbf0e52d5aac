import { Array as Arr, Effect, Either, Option } from "effect"
import type { Submitted } from "../../node/engine/Incoming.js"
import { Mempool } from "../../node/reads/Mempool.js"
import { type Finalized, type Known, State, type TransactionNotFound } from "../../node/reads/State.js"
import { Home } from "../../node/start/Home.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Network from "../../protocol/identity/Network.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import * as TransactionJson from "../../protocol/transaction/TransactionJson.js"
import * as Failure from "../api/Failure.js"
import * as Answer from "../server/Answer.js"
import type * as Handlers from "../server/Handlers.js"
import * as AccountReference from "./AccountReference.js"
import * as Archive from "./Archive.js"
import * as Refused from "./Refused.js"
import * as Statement from "./Statement.js"
import * as Submission from "./Submission.js"
import * as Unreadable from "./Unreadable.js"

const STANDARD_PAGE = 50

const finalizedOutcome = ({ transaction, recorded }: Finalized) => ({
  status: "finalized" as const,
  round: recorded.vertex.round,
  vertex_hash: recorded.vertex.hash,
  validator: recorded.vertex.author,
  applied: recorded.outcome.failure === null,
  failure: recorded.outcome.failure && `${recorded.outcome.failure.code}: ${recorded.outcome.failure.reason}`,
  proposal_id: recorded.outcome.proposalId,
  timestamp: recorded.commitTime,
  transaction: TransactionJson.toJson(transaction),
})

const pendingOutcome = (transaction: Transaction) => ({
  status: "pending" as const,
  round: null,
  vertex_hash: null,
  validator: null,
  applied: null,
  failure: null,
  proposal_id: null,
  timestamp: null,
  transaction: TransactionJson.toJson(transaction),
})

/** Final data never changes; what is pending is so as long as the revision is `at`. */
const lookupOf = (hash: Hash.Hash, known: Known, at: unknown, revision: () => unknown) =>
  known._tag === "Finalized"
    ? Answer.forever({ hash, ...finalizedOutcome(known) })
    : Answer.since(at, revision, { hash, ...pendingOutcome(known.transaction) })

export const notFound = ({ id, withoutEffect }: TransactionNotFound): Failure.TransactionNotFound =>
  Option.match(withoutEffect, {
    onNone: () =>
      new Failure.TransactionNotFound({
        message: `no transaction ${Hash.short(id)} is pending or finalized on this node`,
      }),
    onSome: ({ vertex, reason: why }) => {
      const where = `vertex ${Hash.short(vertex.hash)} of round ${vertex.round}`
      return new Failure.TransactionNotFound({
        message: `transaction ${Hash.short(id)} had no effect in ${where}, and is no longer pending: ${why}`,
        vertex_hash: vertex.hash,
        round: vertex.round,
        reason: why,
      })
    },
  })

/** Where the next page begins; only this node reads it. */
const cursorOf = (sequence: number): string => sequence.toString(36)

const sequenceOf = (cursor: string): Option.Option<number> => {
  const sequence = Number.parseInt(cursor, 36)
  return cursorOf(sequence) === cursor && Number.isSafeInteger(sequence) && sequence > 0
    ? Option.some(sequence)
    : Option.none()
}

const answerTo = (submitted: Submitted | undefined) => {
  if (submitted === undefined) throw new Error("the mempool gave an answer too few")
  return Either.mapBoth(submitted, { onLeft: Refused.fromRefusal, onRight: Submission.answerOf })
}

/** Everything that finds transactions. */
export const reads = Effect.gen(function* () {
  const state = yield* State
  const { revision, recorded } = state
  const account = yield* AccountReference.resolver

  return {
    lookup: ({ path: { hash } }) =>
      Effect.gen(function* () {
        const at = revision()
        return lookupOf(hash, yield* state.transaction(hash), at, revision)
      }).pipe(
        Effect.catchTag("TransactionNotFound", (error) => Effect.fail(notFound(error))),
        Unreadable.asDefect,
      ),
    history: ({ path, query: { limit = STANDARD_PAGE, cursor, ...filter } }) =>
      Effect.gen(function* () {
        const address = yield* account("address", path.address)
        const before = cursor === undefined ? Option.some(null) : sequenceOf(cursor)
        if (Option.isNone(before)) return yield* Effect.fail(Failure.badCursor)
        // It is another one as soon as a commit is on the disk.
        const at = recorded()
        const { transactions, next } = yield* state.history(address, before.value, limit, filter)
        return Answer.since(at, recorded, {
          transactions: transactions.map((known) => ({
            hash: known.transaction.id,
            direction: known.transaction.from === address ? ("sent" as const) : ("received" as const),
            ...finalizedOutcome(known),
          })),
          next_cursor: next === null ? null : cursorOf(next),
        })
      }).pipe(Unreadable.asDefect),
    latest: ({ query: { limit = STANDARD_PAGE, cursor, ...filter } }) =>
      Effect.gen(function* () {
        const before = cursor === undefined ? Option.some(null) : sequenceOf(cursor)
        if (Option.isNone(before)) return yield* Effect.fail(Failure.badCursor)
        const at = recorded()
        const { transactions, next } = yield* state.latest(before.value, limit, filter)
        return Answer.since(at, recorded, {
          transactions: transactions.map((known) => ({ hash: known.transaction.id, ...finalizedOutcome(known) })),
          next_cursor: next === null ? null : cursorOf(next),
        })
      }).pipe(
        Effect.catchTag("NotKept", () => Effect.fail(Archive.notKept)),
        Unreadable.asDefect,
      ),
    statement: yield* Statement.handler,
  } satisfies Partial<Handlers.Of<"transactions">>
})

export const handlers = Effect.gen(function* () {
  const { genesis } = yield* Home
  const mempool = yield* Mempool
  const send = yield* Submission.signer()
  const account = yield* AccountReference.resolver
  const prefix = Network.addressPrefix(genesis.mode)

  return {
    ...(yield* reads),
    send: ({ body: { secret_key: key, to, amount, fee, memo = "" } }) =>
      Effect.flatMap(account("to", to), (to) => send({ key, fee, operation: { _tag: "Transfer", to, amount, memo } })),
    submit: ({ bodies }) => {
      const read = bodies.map((body) => TransactionJson.fromJson(genesis.networkId, prefix, body))
      return Effect.map(mempool.submitAll(Arr.getRights(read)), (submitted) => {
        const answers = submitted.values()
        return read.map((one) =>
          Either.isLeft(one) ? Either.left(Failure.InvalidRequest.of(one.left)) : answerTo(answers.next().value),
        )
      })
    },
  } satisfies Handlers.Of<"transactions">
})
