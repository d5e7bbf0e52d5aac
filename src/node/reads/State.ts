/**
 * Finalized accounts and transactions. Data that a lookup calls finalized is on disk, and no other read is behind it.
 */
import { Context, Data, Effect, Layer, Option } from "effect"
import * as Rejection from "../../ledger/rules/Rejection.js"
import type { Address } from "../../protocol/identity/Address.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Name } from "../../protocol/identity/Name.js"
import type * as Natural from "../../protocol/numbers/Natural.js"
import type { AccountRecord } from "../../protocol/state/AccountRecord.js"
import type { Type } from "../../protocol/transaction/Operation.js"
import type { Transaction } from "../../protocol/transaction/Transaction.js"
import type { Header } from "../../protocol/vertex/Header.js"
import { Storage } from "../../storage/Storage.js"
import type * as Statements from "../../storage/tables/Statements.js"
import type { RecordedTransaction, Sequence } from "../../storage/tables/Transactions.js"
import { Engine } from "../engine/Engine.js"
import { Home } from "../start/Home.js"
import type { NoAnswer, Unanswered } from "./Lookup.js"

export interface Finalized {
  readonly _tag: "Finalized"
  readonly transaction: Transaction
  readonly recorded: RecordedTransaction
}

/** A balance change: a transaction, or an amount that a commit added otherwise. */
export type Entry = Statements.Entry

export type StatementCursor = Statements.Cursor

export type Known = { readonly _tag: "Pending"; readonly transaction: Transaction } | Finalized

/** The last finalized vertex that contained it, and why it had no effect there. */
export interface WithoutEffect {
  readonly vertex: Pick<Header, "hash" | "round">
  readonly reason: string
}

export class TransactionNotFound extends Data.TaggedError("TransactionNotFound")<{
  readonly id: Hash
  /** Set if a finalized vertex contained it without effect. */
  readonly withoutEffect: Option.Option<WithoutEffect>
}> {}

export interface Period {
  readonly from?: Natural.Timestamp
  readonly until?: Natural.Timestamp
}

export interface Filter extends Period {
  readonly type?: Type
}

export interface HistoryFilter extends Filter {
  /** Sent includes transfers to itself. */
  readonly direction?: "sent" | "received"
}

/** For a page of one type; takes some milliseconds. */
const MOST_LOOKED_AT = 500

/** Newest first, with the start of the next page; null if there is none. */
export interface Page {
  readonly transactions: ReadonlyArray<Finalized>
  readonly next: Sequence | null
}

/** Immediate, from memory; a gateway asks its archive. */
const read: <A>(look: () => A) => Effect.Effect<A, Unanswered> = Effect.sync

interface Sender {
  readonly account: AccountRecord
  readonly nextNonce: Natural.Nonce
}

const finalized = (recorded: RecordedTransaction): Finalized => ({
  _tag: "Finalized",
  transaction: recorded.transaction,
  recorded,
})

export type ValidatorOf = (key: Address) => Address

/** A half-open range of positions in the total order. */
export interface Range {
  readonly first: Sequence
  readonly end: Sequence | null
}

/** Converts a period into a range that ends before a position. */
export const rangeOf = <E>(
  before: Sequence | null,
  { from, until }: Period,
  since: (moment: Natural.Timestamp) => Effect.Effect<Sequence, E>,
): Effect.Effect<Range, E> =>
  Effect.all({
    first: from === undefined ? Effect.succeed(0) : since(from),
    end:
      until === undefined
        ? Effect.succeed(before)
        : Effect.map(since(until), (end) => Math.min(end, before ?? Number.MAX_SAFE_INTEGER)),
  })

/** Whether a transaction is wanted; undefined if all are. */
type Wanted = ((transaction: Transaction) => boolean) | undefined

export const ofType = (type: Type | undefined): Wanted => type && (({ operation }) => operation._tag === type)

export const wantedOf = (address: Address, { type, direction }: HistoryFilter): Wanted =>
  direction === undefined
    ? ofType(type)
    : ({ from, operation }) =>
        (from === address) === (direction === "sent") && (type === undefined || operation._tag === type)

/** A page of transactions read newest first, and the cursor of the next one; null if there is none. */
export const pageOf = <E>(
  limit: number,
  wanted: Wanted,
  { first }: Range,
  read: (most: number) => Effect.Effect<ReadonlyArray<RecordedTransaction>, E>,
): Effect.Effect<Page, E> => {
  // One more than requested, to detect a further page.
  const most = wanted === undefined ? limit + 1 : MOST_LOOKED_AT
  return Effect.map(read(most), (all) => {
    const seen = all.filter(({ sequence }) => sequence >= first)
    const found = seen.filter(({ transaction }) => wanted?.(transaction) ?? true)
    const page = found.slice(0, limit)
    // A full page ends with its last item; otherwise everything examined is done.
    const last = page.length === limit ? page.at(-1) : seen.at(-1)
    const hasMore = found.length > limit || seen.length === most
    return { transactions: page.map(finalized), next: hasMore ? (last?.sequence ?? null) : null }
  })
}

const make = Effect.gen(function* () {
  const engine = yield* Engine
  const storage = yield* Storage
  const { genesis } = yield* Home
  const { view } = engine

  return {
    genesis,
    /** Changes whenever something here may have changed. */
    revision: engine.revision,
    /** Changes at least whenever histories, statements or finalized transactions have. */
    recorded: engine.revision,
    /** The commit that accounts and parameters reflect. */
    asOf: () => view.read.head.index,
    summary: read(() => ({
      head: view.read.head,
      totals: view.read.totals,
      parameters: view.read.parameters,
    })),
    /** Zeros for an address never seen. */
    account: (address: Address) =>
      read((): AccountRecord & { readonly address: Address } => ({ address, ...view.read.account(address) })),
    /** The account and its next nonce after pending transactions, from the same moment. */
    sender: (address: Address) =>
      read((): Sender => ({ account: view.read.account(address), nextNonce: view.pool.nextNonce(address) })),
    /** Names of those that have one, in the same order. */
    namesOf: (addresses: ReadonlyArray<Address>) =>
      read(() =>
        addresses.flatMap((address) => {
          const { name } = view.read.account(address)
          return name === null ? [] : [{ address, name }]
        }),
      ),
    addressOf: (name: Name) => read(() => Option.fromNullable(view.read.addressOf(name))),
    /** Tells the account of the validator that signs, or has signed, with the key of an address. */
    validatorOf: read((): ValidatorOf => (key) => view.read.accountOf(key)),
    transaction: (id: Hash): Effect.Effect<Known, TransactionNotFound | NoAnswer> =>
      Effect.gen(function* () {
        // Memory first: a transaction that leaves memory is on disk by then.
        const waiting = view.pool.get(id)
        if (waiting !== undefined) return { _tag: "Pending", transaction: waiting.transaction }
        const settling = yield* engine.settling(id)
        // Statements show data in the files before the engine hears of it.
        const recorded = yield* storage.transactions.byId(id)
        if (Option.isSome(recorded)) return finalized(recorded.value)
        if (Option.isSome(settling)) return { _tag: "Pending", transaction: settling.value }
        const withoutEffect = Option.map(yield* engine.ineffective(id), ({ vertex, reason }) => ({
          vertex,
          reason: Rejection.describe(reason),
        }))
        return yield* new TransactionNotFound({ id, withoutEffect })
      }),
    /**
     * Sent and received, newest first, with the cursor of the next page; null if there is none. With a filter by type
     * or direction, each page examines a bounded number, so it can have fewer than requested although another page
     * follows.
     */
    history: (
      address: Address,
      before: Sequence | null,
      limit: number,
      filter: HistoryFilter = {},
    ): Effect.Effect<Page, NoAnswer> =>
      Effect.flatMap(rangeOf(before, filter, storage.transactions.since), (range) =>
        pageOf(limit, wantedOf(address, filter), range, (most) =>
          storage.transactions.history({ address, before: range.end, limit: most }),
        ),
      ),
    statement: (request: Statements.Request): Effect.Effect<Statements.Statement, NoAnswer> =>
      storage.statements.page(request),
  }
})

export class State extends Context.Tag("udg/State")<State, Effect.Effect.Success<typeof make>>() {}

export const layer = Layer.effect(State, make)
