import { Effect, Option } from "effect"
import { type Entry, State, type StatementCursor } from "../../node/reads/State.js"
import type { Address } from "../../protocol/identity/Address.js"
import * as Sats from "../../protocol/numbers/Sats.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Operation } from "../../protocol/transaction/Operation.js"
import * as Failure from "../api/Failure.js"
import * as AccountReference from "./AccountReference.js"

type RecordedTransaction = Extract<Entry, { readonly _tag: "Transaction" }>["recorded"]
type RecordedPosting = Extract<Entry, { readonly _tag: "Posting" }>["posting"]

const STANDARD_PAGE = 50

const FIRST: StatementCursor = { sequence: null, position: null }

/** Base-36 numbers, 0 for none yet: transaction, then commit, kind and number of the posting. */
const cursorOf = ({ sequence, position }: StatementCursor): string =>
  [sequence ?? 0, ...(position === null ? [] : [position.until, position.kind, position.number])]
    .map((number) => number.toString(36))
    .join(".")

const parsed = (cursor: string): Option.Option<StatementCursor> => {
  const numbers = cursor.split(".").map((text) => Number.parseInt(text, 36))
  const [sequence, until, kind, number] = numbers
  if (sequence === undefined || !numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) {
    return Option.none()
  }
  const position = until === undefined || kind === undefined || number === undefined ? null : { until, kind, number }
  const read: StatementCursor = { sequence: sequence === 0 ? null : sequence, position }
  return cursorOf(read) === cursor ? Option.some(read) : Option.none()
}

/** The other account that an operation names. */
const namedIn = (operation: Operation): Address | null =>
  operation._tag === "DelegateTx" ? operation.validator : (Charges.recipientOf(operation) ?? null)

const memoOf = (operation: Operation): string | null =>
  operation._tag === "Transfer" && operation.memo !== "" ? operation.memo : null

const ofTransaction = (address: Address, { transaction, outcome, leaderRound, commitTime }: RecordedTransaction) => {
  const { id, from, operation, fee: signed } = transaction
  const applied = outcome.failure === null
  const amount = applied ? Charges.amountOf(operation, { proposalBond: 0 }) : Sats.ZERO
  const isSent = from === address
  const charged = outcome.charged ?? signed + amount
  const fee = applied ? signed : Sats.make(charged)
  const moved = Sats.make(charged - fee)
  const isReceived = Charges.recipientOf(operation) === address
  return {
    kind: isSent ? ("sent" as const) : ("received" as const),
    change: (isReceived ? moved : 0) - (isSent ? charged : 0),
    amount: moved,
    fee: isSent ? fee : null,
    type: operation._tag,
    hash: id,
    counterparty: isSent ? namedIn(operation) : from,
    applied,
    proposal_id: outcome.proposalId,
    memo: memoOf(operation),
    round: leaderRound,
    since: commitTime,
    timestamp: commitTime,
  }
}

const ofPosting = ({ kind, amount, proposalId, round, since, time }: RecordedPosting) => ({
  kind,
  change: kind === "stake_slashed" || kind === "delegations_slashed" ? 0 : amount,
  amount,
  fee: null,
  type: null,
  hash: null,
  counterparty: null,
  applied: null,
  proposal_id: proposalId,
  memo: null,
  round,
  since,
  timestamp: time,
})

export interface Request {
  readonly path: { readonly address: string }
  readonly urlParams: { readonly limit?: number; readonly cursor?: string }
}

export const handler = Effect.gen(function* () {
  const state = yield* State
  const account = yield* AccountReference.resolver

  return ({ path, urlParams: { limit = STANDARD_PAGE, cursor } }: Request) =>
    Effect.gen(function* () {
      const address = yield* account("address", path.address)
      const after = cursor === undefined ? Option.some(FIRST) : parsed(cursor)
      if (Option.isNone(after)) return yield* Effect.fail(Failure.badCursor)
      const { balance, entries, next } = yield* state.statement({ address, after: after.value, limit })
      return {
        address,
        balance: Sats.make(balance),
        entries: entries.map((entry) =>
          entry._tag === "Posting" ? ofPosting(entry.posting) : ofTransaction(address, entry.recorded),
        ),
        next_cursor: next === null ? null : cursorOf(next),
      }
    })
})
