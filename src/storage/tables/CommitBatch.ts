/** Everything that one commit stores, written at once. Plain data, so that the writer can live in another thread. */
import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import type * as Execution from "../../ledger/rules/Execution.js"
import type { Draft } from "../../ledger/rules/PostingBlocks.js"
import * as Rejection from "../../ledger/rules/Rejection.js"
import type { Change } from "../../ledger/tables/Effects.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as Charges from "../../protocol/transaction/Charges.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Vertex } from "../../protocol/vertex/Vertex.js"
import * as EventLoop from "../../turns/EventLoop.js"
import type { Sql } from "../sqlite/Sql.js"
import * as Accounts from "./Accounts.js"
import * as ClosedStates from "./ClosedStates.js"
import * as Commits from "./Commits.js"
import * as PendingTransactions from "./PendingTransactions.js"
import * as Postings from "./Postings.js"
import * as Records from "./Records.js"
import * as Transactions from "./Transactions.js"
import * as Vertices from "./Vertices.js"

export interface CommitBatch {
  readonly commit: Commits.CommitRecord
  readonly changes: Iterable<Change>
  /** In the commit's order; all are already stored. The genesis orders none. */
  readonly vertices: ReadonlyArray<Transactions.OrderedVertex>
  readonly postings: ReadonlyArray<Draft>
  /** Mempool transactions that the commit has settled. */
  readonly settled: ReadonlyArray<Hash>
}

type Effective = Exclude<Execution.Outcome, { readonly _tag: "NoEffect" }>

/** The charge that follows from a transaction's bytes, which for nearly all is the whole charge. */
const chargedOf = ({ fee, operation }: Transaction, outcome: Effective): number | null => {
  const isApplied = outcome._tag === "Applied"
  const charged = outcome.fee + (isApplied ? outcome.taken : 0)
  return charged === fee + (isApplied ? Charges.amountOf(operation, { proposalBond: 0 }) : 0) ? null : charged
}

const outcomeOf = (transaction: Transaction, outcome: Effective): Transactions.Outcome => {
  const charged = chargedOf(transaction, outcome)
  if (outcome._tag === "Applied") return { failure: null, proposalId: outcome.proposalId, charged }
  const { reason } = outcome
  return { failure: { code: reason._tag, reason: Rejection.describe(reason) }, proposalId: null, charged }
}

const executedOf = (vertex: Vertex, outcomes: ReadonlyArray<Execution.Outcome>) => {
  const executed: Array<Transactions.ExecutedTransaction> = []
  for (const [position, transaction] of vertex.body.transactions.entries()) {
    const outcome = outcomes[position]
    if (outcome === undefined || outcome._tag === "NoEffect") continue
    executed.push({
      transaction,
      position,
      outcome: outcomeOf(transaction, outcome),
      participants: Charges.addressesOf(transaction),
    })
  }
  return executed
}

/** The result of executing a commit with these vertices. Transactions without effect leave no trace. */
export const fromExecution = (
  { commit, time, effectsDigest, changes, postings, vertices: outcomes }: Execution.Execution,
  vertices: ReadonlyArray<Vertex>,
  settled: ReadonlyArray<Hash>,
): CommitBatch => ({
  commit: { ...commit, time, effectsDigest },
  changes,
  vertices: vertices.map((vertex, position) => ({
    header: vertex.header,
    transactions: vertex.body.transactions.length,
    executed: executedOf(vertex, outcomes[position]?.transactions ?? []),
  })),
  postings,
  settled,
})

/** Writes each changed record to its table. */
export const writeChanges = (sql: Sql, changes: Iterable<Change>): void => {
  const accounts = new Accounts.Changes()
  const records = new Records.Changes()
  for (const { kind, key, value } of changes) {
    if (kind === "Account") accounts.add(key, value)
    else records.add(kind, key, value)
  }
  accounts.write(sql)
  records.write(sql)
}

/** Transactions without effect are not recorded, so a vertex that has any keeps all of its own. */
const orderedOf = (
  { header, transactions, executed }: Transactions.OrderedVertex,
  range: Transactions.SequenceRange | null = null,
): Vertices.Ordered => ({ place: header, recorded: transactions === executed.length ? range : null })

/** The number of records that takes about ten milliseconds. Other fibers run in between. */
const CHANGES_PER_TURN = 1_024

function* partsOf<A>(all: Iterable<A>): Generator<ReadonlyArray<A>> {
  let part: Array<A> = []
  for (const one of all) {
    part.push(one)
    if (part.length < CHANGES_PER_TURN) continue
    yield part
    part = []
  }
  yield part
}

/** One commit's statements, for one transaction. */
export const write = (sql: Sql, batch: CommitBatch): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    const { commit, vertices } = batch
    Commits.append(sql, commit, vertices.length)
    for (const changes of partsOf(batch.changes)) {
      // No node joins at the genesis, whose state is in the genesis file.
      if (commit.epoch > 1) ClosedStates.keep(sql, Natural.epoch(commit.epoch - 1), changes)
      writeChanges(sql, changes)
      if (changes.length === CHANGES_PER_TURN) yield* EventLoop.turn
    }
    const recorded = yield* Transactions.append(sql, commit.index, vertices)
    Postings.append(sql, commit, batch.postings)
    PendingTransactions.remove(sql, batch.settled)
    const ordered = vertices.map((vertex, i) => orderedOf(vertex, recorded[i]))
    Vertices.markOrdered(sql, commit.index, ordered)
    Commits.requireVertices(sql, commit.index)
  })
