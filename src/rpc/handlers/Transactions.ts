import { Array as Arr, Effect, Either, Option } from "effect"
import type { Submitted } from "../../node/engine/Incoming.js"
import type { NoAnswer } from "../../node/reads/Lookup.js"
import { Mempool } from "../../node/reads/Mempool.js"
import { Search } from "../../node/reads/Search.js"
import {
  type Finalized,
  type Known,
  type Filter as OfEverybody,
  type Page,
  State,
  type ValidatorOf,
} from "../../node/reads/State.js"
import { Home } from "../../node/start/Home.js"
import type * as Hash from "../../protocol/identity/Hash.js"
import * as Network from "../../protocol/identity/Network.js"
import * as JsonForm from "../../protocol/transaction/JsonForm.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import * as Failure from "../api/Failure.js"
import * as AccountReference from "./AccountReference.js"
import * as Archive from "./Archive.js"
import { group, type Of } from "./Group.js"
import * as Refused from "./Refused.js"
import * as Statement from "./Statement.js"
import * as Submission from "./Submission.js"

const STANDARD_PAGE = 50

const finalizedOutcome = ({ transaction, recorded }: Finalized, validatorOf: ValidatorOf) => ({
  status: "finalized" as const,
  round: recorded.vertex.round,
  vertex_hash: recorded.vertex.hash,
  validator: validatorOf(recorded.vertex.author),
  applied: recorded.outcome.failure === null,
  failure: recorded.outcome.failure && `${recorded.outcome.failure.code}: ${recorded.outcome.failure.reason}`,
  proposal_id: recorded.outcome.proposalId,
  timestamp: recorded.commitTime,
  transaction: JsonForm.toJson(transaction),
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
  transaction: JsonForm.toJson(transaction),
})

const lookupOf = (hash: Hash.Hash, known: Known, validatorOf: ValidatorOf) => ({
  hash,
  ...(known._tag === "Finalized" ? finalizedOutcome(known, validatorOf) : pendingOutcome(known.transaction)),
})

/** Where the next page begins. Only this node reads it. */
const cursorOf = (sequence: number): string => sequence.toString(36)

const sequenceOf = (cursor: string): Option.Option<number> => {
  const sequence = Number.parseInt(cursor, 36)
  return cursorOf(sequence) === cursor && Number.isSafeInteger(sequence) && sequence > 0
    ? Option.some(sequence)
    : Option.none()
}

const answerTo = (submitted: Submitted | undefined) => {
  if (submitted === undefined) throw new Error("the mempool returned too few answers")
  return Either.mapBoth(submitted, { onLeft: Refused.fromRefusal, onRight: Submission.answerOf })
}

/** A filter of all accounts' transactions. Only an archive can search words. */
export interface Filter extends OfEverybody {
  readonly words?: string
}

/** A page of all accounts' transactions, newest first. */
export type Latest = (
  before: number | null,
  limit: number,
  filter: Filter,
) => Effect.Effect<Page, NoAnswer | Failure.NotServed>

export const reads = (latest: Latest) =>
  Effect.gen(function* () {
    const state = yield* State
    const account = yield* AccountReference.resolver

    return {
      lookup: ({ path: { hash } }) =>
        Effect.zipWith(state.transaction(hash), state.validatorOf, (known, validatorOf) =>
          lookupOf(hash, known, validatorOf),
        ),
      history: ({ path, urlParams: { limit = STANDARD_PAGE, cursor, ...filter } }) =>
        Effect.gen(function* () {
          const address = yield* account("address", path.address)
          const before = cursor === undefined ? Option.some(null) : sequenceOf(cursor)
          if (Option.isNone(before)) return yield* Effect.fail(Failure.badCursor)
          const { transactions, next } = yield* state.history(address, before.value, limit, filter)
          const validatorOf = yield* state.validatorOf
          return {
            transactions: transactions.map((known) => ({
              hash: known.transaction.id,
              direction: known.transaction.from === address ? ("sent" as const) : ("received" as const),
              ...finalizedOutcome(known, validatorOf),
            })),
            next_cursor: next === null ? null : cursorOf(next),
          }
        }),
      latest: ({ urlParams: { limit = STANDARD_PAGE, cursor, ...filter } }) =>
        Effect.gen(function* () {
          const before = cursor === undefined ? Option.some(null) : sequenceOf(cursor)
          if (Option.isNone(before)) return yield* Effect.fail(Failure.badCursor)
          const { transactions, next } = yield* latest(before.value, limit, filter)
          const validatorOf = yield* state.validatorOf
          return {
            transactions: transactions.map((known) => ({
              hash: known.transaction.id,
              ...finalizedOutcome(known, validatorOf),
            })),
            next_cursor: next === null ? null : cursorOf(next),
          }
        }),
      statement: yield* Statement.handler,
    } satisfies Partial<Of<"transactions">>
  })

export const layer = group("transactions", (handlers) =>
  Effect.gen(function* () {
    const { genesis } = yield* Home
    const mempool = yield* Mempool
    const send = yield* Submission.signer()
    const account = yield* AccountReference.resolver
    const prefix = Network.addressPrefix(genesis.mode)
    const search = yield* Search
    const finding = yield* reads((before, limit, { words, ...filter }) =>
      words === undefined ? search.latest(before, limit, filter) : Effect.fail(Archive.notKept),
    )
    const submit: Of<"transactions">["submit"] = ({ payloads }) => {
      const read = payloads.map((payload) => JsonForm.fromJson(genesis.networkId, prefix, payload))
      return Effect.map(mempool.submitAll(Arr.getRights(read)), (submitted) => {
        const answers = submitted.values()
        return read.map((one) =>
          Either.isLeft(one) ? Either.left(Failure.InvalidRequest.of(one.left)) : answerTo(answers.next().value),
        )
      })
    }

    return handlers
      .handle("send", ({ payload: { secret_key: key, to, amount, fee, memo = "" } }) =>
        Effect.flatMap(account("to", to), (to) =>
          send({ key, fee, operation: { _tag: "Transfer", to, amount, memo } }),
        ),
      )
      .handle("submit", submit)
      .handle("lookup", finding.lookup)
      .handle("history", finding.history)
      .handle("statement", finding.statement)
      .handle("latest", finding.latest)
  }),
)
